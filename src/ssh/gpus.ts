import type { GpuReport, GpuSample } from "../core/ports";
import { isLoginNode } from "../core/session/loginNode";
import gpuScript from "../host/gpus.sh";
import type { Control } from "./control";
import type { HostSession } from "./hostSession";
import { pathPrefix } from "./jobEnvironment";
import { lines } from "./scriptChannel";

/** Names as `nvidia-smi --help-query-gpu` lists them; one that the driver does not know fails the whole query. */
export const fieldLists = [
  "index,uuid,name,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit",
  "index,uuid,name,utilization.gpu,memory.used,memory.total,temperature.gpu",
  "index,uuid,name,memory.used,memory.total",
] as const;

/** More than any machine has; what says more is no nvidia-smi. */
const mostGpus = 256;

/** How long lines of one moment may follow each other, and how long to wait before asking a host again. */
const roundMs = 150;
const againMs = 60_000;

/** Of a connected host, what its GPUs are asked through. */
type GpuSession = Pick<HostSession, "definition" | "identity" | "variables" | "clock"> & {
  readonly control: Pick<Control, "stream">;
};

/** Samples of all GPUs of the host, round by round; see `HostOps.gpus`. Ends when aborted or when the link breaks. */
export async function* watchGpus(
  session: GpuSession,
  everySeconds: number,
  signal: AbortSignal,
): AsyncGenerator<GpuReport> {
  const interval = Math.max(200, Math.round(everySeconds * 1000));
  const [fields_1, fields_2, fields_3] = fieldLists;
  if (isLoginNode(session.identity)) {
    yield { kind: "unavailable", reason: "GPUs are not asked for on a login node." };
    for (;;) await session.clock.sleep(againMs, signal);
  }
  for (;;) {
    const path_prefix = pathPrefix(session.definition, session.identity.home);
    const variables = { ...session.variables, path_prefix, interval, fields_1, fields_2, fields_3 };
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    try {
      yield* reports(session, session.control.stream([gpuScript], variables, until), until);
    } finally {
      // Whoever stops reading does so while a line is waited for.
      over.abort();
    }
    // A driver that was updated or a GPU that fell off the bus: another look later.
    await session.clock.sleep(againMs, signal);
  }
}

async function* reports(
  session: GpuSession,
  output: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<GpuReport> {
  const rounds = new GpuRounds();
  const hostNow = (): number => session.clock.now() + session.identity.clockOffsetMs;
  const source = lines(output)[Symbol.asyncIterator]();
  let next = source.next();
  let heardAt = 0;
  let quiet: Promise<undefined> | undefined;
  for (;;) {
    // While a round is open and its size unknown, silence ends it. One timer at a time: lines come in dozens.
    if (rounds.open) quiet ??= session.clock.sleep(roundMs, signal).then(() => undefined);
    const result = await (quiet === undefined ? next : Promise.race([next, quiet]));
    if (result === undefined) {
      quiet = undefined;
      const silent = Math.abs(session.clock.now() - heardAt) >= roundMs;
      const report = silent ? rounds.flush() : undefined;
      if (report !== undefined) yield report;
    } else if (result.done === true) {
      return;
    } else {
      heardAt = session.clock.now();
      yield* rounds.line(result.value, hostNow());
      next = source.next();
    }
  }
}

/** Puts the lines of gpus.sh together to rounds: all GPUs of one moment. */
class GpuRounds {
  #fields: readonly string[] = [];
  #round: GpuSample[] = [];
  #words: string[] = [];
  /** The last line of each GPU by its index: index, uuid and name, and the other values. */
  readonly #last = new Map<string, { readonly head: string; readonly values: string }>();
  /** GPUs of the last full round. */
  #count: number | undefined;

  /** Whether a round has begun that no line has ended yet. */
  get open(): boolean {
    return this.#round.length > 0;
  }

  /** @param at host clock, ms since 1970, when the line came */
  *line(line: string, at: number): Generator<GpuReport> {
    const [, word, rest = ""] = /^@ (\S+) ?(.*)$/.exec(line) ?? [];
    if (word === "absent") yield { kind: "unavailable", reason: "nvidia-smi is not on this host (or not on PATH)." };
    else if (word === "fields") this.#start(rest);
    else if (word === "ended") yield* this.#ended(Number(rest));
    else if (word === undefined) yield* this.#sample(this.#whole(line), at);
  }

  flush(): GpuReport | undefined {
    if (this.#round.length === 0) return undefined;
    const samples = this.#round;
    this.#round = [];
    this.#count = samples.length;
    return { kind: "samples", samples };
  }

  #start(fields: string): void {
    this.#fields = fields.split(",");
    this.#words = [];
    this.#last.clear();
  }

  /** What gpus.sh left out, since it has not changed, is filled in: `=INDEX`, or `=INDEX VALUES`. */
  #whole(line: string): string {
    const [, index = "", changed = ""] = /^=(\d{1,3})( .*)?$/.exec(line) ?? [];
    const last = this.#last.get(index);
    if (last) {
      const values = changed === "" ? last.values : changed;
      this.#last.set(index, { ...last, values });
      return `${last.head},${values}`;
    }
    const [, head, own, values] = /^((\d{1,3}),[^,]*,[^,]*),(.*)$/.exec(line) ?? [];
    if (head !== undefined && own !== undefined && values !== undefined) this.#last.set(own, { head, values });
    return line;
  }

  *#ended(code: number): Generator<GpuReport> {
    const last = this.flush();
    if (last !== undefined) yield last;
    // 2 is an unknown field: the script asks for fewer, and only the last list's failure is news.
    if (code === 2 && this.#fields.length > fieldLists[2].split(",").length) return;
    const words = this.#words.join(" ").slice(0, 300);
    yield { kind: "unavailable", reason: words === "" ? `nvidia-smi ended with code ${code}.` : words };
  }

  *#sample(line: string, at: number): Generator<GpuReport> {
    const sample = sampleOf(this.#fields, line, at);
    if (sample === undefined) {
      if (line.trim() !== "" && this.#words.length < 5) this.#words.push(line.trim());
      return;
    }
    if (this.#round.some((other) => other.uuid === sample.uuid)) {
      const before = this.flush();
      if (before !== undefined) yield before;
    }
    if (this.#round.length < mostGpus) this.#round.push(sample);
    if (this.#round.length === this.#count) {
      const full = this.flush();
      if (full !== undefined) yield full;
    }
  }
}

/** One line of `nvidia-smi --query-gpu`, of the moment `at`; undefined for anything else. */
export function sampleOf(fields: readonly string[], line: string, at: number): GpuSample | undefined {
  const values = line.split(",").map((value) => value.trim());
  if (fields.length === 0 || values.length !== fields.length) return undefined;
  const text = (field: string): string => values[fields.indexOf(field)] ?? "";
  // "[N/A]", "[Not Supported]", "[Unknown Error]", "ERR!": the driver gives none.
  const number = (field: string): number | undefined =>
    /^-?\d+(\.\d+)?$/.test(text(field)) ? Number(text(field)) : undefined;
  const index = number("index");
  if (index === undefined || text("uuid") === "") return undefined;
  const numbers = {
    utilisation: number("utilization.gpu"),
    memoryUsedMib: number("memory.used"),
    memoryTotalMib: number("memory.total"),
    temperatureC: number("temperature.gpu"),
    powerW: number("power.draw"),
    powerLimitW: number("power.limit"),
  };
  const given = Object.entries(numbers).filter(([, value]) => value !== undefined);
  return { index, uuid: text("uuid"), name: text("name"), at, ...Object.fromEntries(given) };
}
