import { randomBytes } from "node:crypto";
import type { Channel, Transport } from "../core/ports";
import { ExpectedError, isExpected, messageOf } from "../core/errors";
import prelude from "../host/prelude.sh";

/** What a script gets: each becomes a shell variable of that name. Text with a NUL cannot be passed on and is refused. */
export type ScriptVariables = Readonly<Record<string, string | number>>;

/**
 * The one command that is ever sent to a login shell: fish, tcsh and zsh pass the single quoted argument through as
 * POSIX shells do. It takes the script's length and then exactly that many bytes from standard input, since `sh -s`
 * reads ahead; what follows on standard input is data.
 */
const bootstrap = `exec sh -c 'IFS= read -r n; eval "$(dd bs=1 count="$n" 2>/dev/null)"'`;

/** One word for a POSIX shell. */
export function quoted(text: string): string {
  if (text.includes("\0")) throw new ExpectedError("A text with a NUL character cannot be passed to the host.");
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The script without its comments and blank lines: `dd bs=1` costs the host a system call a byte. */
export function compact(script: string): string {
  return script.replaceAll(/^[ \t]*(?:#.*)?\n/gm, "").replaceAll(/^[ \t]+/gm, "");
}

/** A script that runs on the host, with what start-up files printed before it taken away. */
interface ScriptChannel {
  readonly channel: Channel;
  readonly nonce: string;
  /** From the byte after the begin mark. Throws ExpectedError when there never was one. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
}

/**
 * Starts a script, given as parts that become one.
 * @throws ExpectedError for texts that cannot be passed; what the transport throws
 */
export async function openScript(
  transport: Transport,
  parts: readonly string[],
  variables: ScriptVariables,
  signal?: AbortSignal,
): Promise<ScriptChannel> {
  const nonce = randomBytes(12).toString("hex");
  const assignments = Object.entries<string | number>({ ...variables, nonce }).map(
    ([name, value]) => `${name}=${quoted(`${value}`)}`,
  );
  const text = [compact(prelude), ...assignments, ...parts.map(compact)].join("\n");
  const bytes = Buffer.from(text, "utf8");
  const channel = await transport.open(bootstrap, signal);
  const mark = Buffer.from(`\n${nonce} begin\n`);
  try {
    await channel.write(Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]));
  } catch (error) {
    channel.close();
    throw error;
  }
  return { channel, nonce, stdout: afterMark(channel.stdout, mark), stderr: afterMark(channel.stderr, mark) };
}

/** Start-up files may print a screenful; a flood without a mark is no shell of ours. */
const maxNoise = 1 << 20;

async function* afterMark(source: AsyncIterable<Uint8Array>, mark: Buffer): AsyncGenerator<Uint8Array> {
  let before: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of source) {
    if (before === undefined) {
      yield chunk;
      continue;
    }
    // Start-up files may print, so the mark is searched for; nothing may come before it, not even a line break.
    before = Buffer.concat([before, chunk]);
    const at = before.indexOf(mark);
    if (at >= 0) {
      const rest = before.subarray(at + mark.length);
      before = undefined;
      if (rest.length > 0) yield rest;
    } else if (before.length > maxNoise) {
      throw new ExpectedError("The host prints without end where a shell should answer.");
    }
  }
  if (before !== undefined) {
    const said = before.toString("utf8").trim().slice(-300);
    throw new ExpectedError(`The host's shell did not run our script${said === "" ? "." : `; it says: ${said}`}`);
  }
}

/** All bytes of a stream, at most `limit`. */
async function collect(source: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > limit) throw new ExpectedError(`The host's answer is larger than ${limit} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The lines of a byte stream, without their line feeds; a last line that is not ended is given too. */
export async function* lines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of source) {
    const found = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
  if (rest !== "") yield rest;
}

const maxAnswer = 64 << 20;

/**
 * Runs a script that answers and ends; its lines, without the end mark.
 * @throws ExpectedError when it did not come to its end; what the transport throws
 */
export async function runScript(
  transport: Transport,
  parts: readonly string[],
  variables: ScriptVariables,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const answer = (await runRaw(transport, parts, variables, signal)).toString("utf8");
  return answer === "" ? [] : answer.replace(/\n$/, "").split("\n");
}

/** As `runScript`, as bytes. */
export async function runRaw(
  transport: Transport,
  parts: readonly string[],
  variables: ScriptVariables,
  signal?: AbortSignal,
): Promise<Buffer> {
  const script = await openScript(transport, parts, variables, signal);
  const abort = (): void => {
    script.channel.close();
  };
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const [answered, complained] = await Promise.allSettled([
      collect(script.stdout, maxAnswer),
      collect(script.stderr, maxNoise),
    ]);
    signal?.throwIfAborted();
    // Where no shell ran, either output may hold the words that say why.
    if (answered.status === "rejected") throw clearest(answered.reason, complained);
    const answer = answered.value;
    const errors = complained.status === "fulfilled" ? complained.value : Buffer.alloc(0);
    const mark = Buffer.from(`@ end ${script.nonce}\n`);
    if (answer.length < mark.length || !answer.subarray(-mark.length).equals(mark)) {
      const said = errors.toString("utf8").trim().slice(-300);
      throw new ExpectedError(
        `The link broke, or the script was stopped on the host, before it had answered${said === "" ? "." : `: ${said}`}`,
      );
    }
    return answer.subarray(0, -mark.length);
  } finally {
    signal?.removeEventListener("abort", abort);
    script.channel.close();
  }
}

function clearest(reason: unknown, other: PromiseSettledResult<unknown>): unknown {
  const second: unknown = other.status === "rejected" ? other.reason : undefined;
  return messageOf(reason).endsWith("script.") && isExpected(second) ? second : reason;
}
