import { randomBytes } from "node:crypto";
import type { Channel, Transport } from "../core/ports";
import { ExpectedError } from "../core/errors";
import prelude from "../host/prelude.sh";

/** What a script gets: each becomes a shell variable of that name. Text with a NUL cannot be passed on and is refused. */
export type ScriptVariables = Readonly<Record<string, string | number>>;

/**
 * The one command that is ever sent to a login shell: fish, tcsh and zsh pass the single quoted argument through as
 * POSIX shells do. It takes the script's length and then exactly that many bytes from standard input, since `sh -s`
 * reads ahead; what follows on standard input is data. A dd that cannot wait for a full block reads nothing and fails.
 */
const take = 'dd bs="$n" count=1 iflag=fullblock 2>/dev/null || dd bs=1 count="$n" 2>/dev/null';
const bootstrap = `exec sh -c 'IFS= read -r n; eval "$(${take})"'`;

/**
 * Comes in front of a script that waits for most of its life, and takes that from standard input in the same way: under a
 * shell whose `read` has no time limit (dash) bash takes over where it is there, since a second process that keeps the
 * time would be half of what the waiting costs. bash calls itself `sh` then, by which cost.sh knows what is ours.
 */
const takeOver = `unset BASH_ENV
(read -r -t 0 n </dev/null) 2>/dev/null
if [ "$?" -eq 2 ] && command -v bash >/dev/null 2>&1; then
exec bash --posix --norc -c '{ printf sh >/proc/self/comm; } 2>/dev/null; IFS= read -r n; eval "$(${take})"'
fi
IFS= read -r n
eval "$(${take})"
`;

/** One word for a POSIX shell. */
export function quoted(text: string): string {
  if (text.includes("\0")) throw new ExpectedError("A text with a NUL character cannot be passed to the host.");
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A line of shell for each variable. */
export function assignmentsOf(variables: ScriptVariables): string[] {
  return Object.entries<string | number>(variables).map(([name, value]) => `${name}=${quoted(`${value}`)}`);
}

/** The script without its comments and blank lines: `dd bs=1` costs the host a system call a byte. */
export function compact(script: string): string {
  return script.replaceAll(/^[ \t]*(?:#.*)?\n/gm, "").replaceAll(/^[ \t]+/gm, "");
}

/** What is to run. */
export interface Script {
  /** Become one script. */
  readonly parts: readonly string[];
  readonly variables: ScriptVariables;
  /** Most of its life it waits: it runs under a shell that needs no process for that, where there is one. */
  readonly waits?: boolean;
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
  { parts, variables, waits = false }: Script,
  signal?: AbortSignal,
): Promise<ScriptChannel> {
  const nonce = randomBytes(12).toString("hex");
  const text = [compact(prelude), ...assignmentsOf({ ...variables, nonce }), ...parts.map(compact)].join("\n");
  const pieces = waits ? [takeOver, text] : [text];
  const channel = await transport.open(bootstrap, signal);
  const mark = Buffer.from(`\n${nonce} begin\n`);
  try {
    await channel.write(Buffer.concat(pieces.map(withLength)));
  } catch (error) {
    // What takes no input has said why, mostly; else its refusal has to do.
    const said = await wordsOf(channel.stdout);
    channel.close();
    throw said === "" ? error : noShell(said);
  }
  return { channel, nonce, stdout: afterMark(channel.stdout, mark), stderr: afterMark(channel.stderr, mark) };
}

function withLength(piece: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(piece)}\n${piece}`);
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
  if (before !== undefined) throw noShell(before.toString("utf8").trim());
}

function noShell(said: string): ExpectedError {
  return new ExpectedError(
    `The host's shell did not run our script${said === "" ? "." : `; it says: ${said.slice(-300)}`}`,
  );
}

/** The little that a program prints which reads nothing and ends. */
async function wordsOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of source) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.length > maxNoise) break;
  }
  return text.trim();
}

/** Far above any line of ours; a host that prints without a line feed must not fill our memory. */
const maxLine = 1 << 20;

/**
 * The lines of a byte stream, without their line feeds; a last line that is not ended is given too.
 * @throws ExpectedError for a line of more than a million characters
 */
export async function* lines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of source) {
    const found = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    if (rest.length > maxLine) throw new ExpectedError("The host prints a line without end.");
    yield* found;
  }
  if (rest !== "") yield rest;
}
