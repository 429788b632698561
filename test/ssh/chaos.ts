import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../src/core/ports";
import { FollowedLog } from "../../src/core/followedLogs";
import { lastSeen } from "../../src/core/session/judge";
import { notices } from "../../src/core/session/notices";
import { processesWith, until } from "./hostHarness";
import { NumberedLog, type Rotation } from "./numberedLog";
import { faults, startRelay, type Relay } from "./relay";
import { startSshd } from "./sshd";
import { windowAt } from "./storyHost";
import { storyId, type StoryWindow } from "./storyWindow";

/** What a run of chaos is made from. */
interface ChaosOptions {
  readonly seed: number;
  readonly faults: number;
  /** Over all logs. */
  readonly lines: number;
  /** The longest of the common faults, ms; one in twenty is `patientMs` long. */
  readonly faultMs: number;
  readonly patientMs: number;
  readonly keepaliveMs: number;
  readonly silenceSeconds: number;
  readonly say?: (text: string) => void;
}

/** What became of the lines of one log. */
interface LogReport {
  readonly log: string;
  readonly rotations: string;
  readonly written: number;
  readonly lost: number;
  /** Lines that were taken away and that nobody had read before. */
  readonly destroyedUnread: number;
  /** Lines that were still there and never came. */
  readonly missed: number;
  readonly firstMissed: readonly string[];
  readonly doubled: number;
  readonly strange: readonly string[];
  /** What the product says that it lost, bytes. */
  readonly toldLost: number;
}

export interface ChaosReport {
  readonly seed: number;
  readonly faults: number;
  readonly lines: number;
  readonly logs: readonly LogReport[];
  /** From the return of the link until a line written after it was read in every log, ms. */
  readonly backMs: readonly number[];
  /** The same from a link that had to be made anew until the host is connected, ms. */
  readonly connectedMs: readonly number[];
  readonly toasts: number;
  readonly rejections: readonly string[];
  /** States that no log of a living job may have. */
  readonly falseStates: readonly string[];
  /** Processes of ours on the host, with their command lines. */
  readonly left: readonly string[];
  /** How long it took until nothing of ours was on the host after the last link fell silent, ms. */
  readonly goneMs: number;
}

/**
 * One log is not rotated twice within this: what rotates looks each minute at most, and a follower that looks each 5 s
 * whether its file has its name still cannot tell two copies that were made in between from each other.
 */
const rotationsApartMs = 10_000;

const rotationsOf: Readonly<Record<string, readonly Rotation[]>> = {
  renamed: ["rename"],
  dated: ["date"],
  copied: ["copy"],
  cut: ["cut", "replace", "delete"],
};

/**
 * Four logs are written and rotated while the link to their host suffers; everything between the wire and the views is
 * the product's. The numbers of the lines tell what was lost and what came twice.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, say = () => undefined } = options;
  const random = randomFrom(seed);
  const rejections: string[] = [];
  const hear = (error: unknown): void => {
    rejections.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  process.on("unhandledRejection", hear);
  process.on("uncaughtException", hear);
  const sshd = await startSshd();
  const relay = await startRelay(sshd.port);
  const home = join(sshd.folder, "home");
  mkdirSync(home);
  const each = Math.floor(options.lines / Object.keys(rotationsOf).length);
  const logs = Object.keys(rotationsOf).map((name) => new NumberedLog(name, join(home, `${name}.log`), each));
  const recording = record(logs);
  let window: StoryWindow | undefined;
  try {
    for (const log of logs) log.write(10);
    const { keepaliveMs, silenceSeconds } = options;
    const told = process.env["CHAOS_LOG"] === undefined ? {} : { logger: loggerOf(say) };
    window = await windowAt({ sshd, relay, home }, fileFor(logs, home), { keepaliveMs, silenceSeconds, ...told });
    recording.watch(window);
    const eyes = watchEyes(window);
    await until("all logs are read", () => logs.every((log) => log.whole));
    const storm: Storm = { options, relay, window, logs, random, say, backMs: [], connectedMs: [] };
    for (let n = 1; n <= options.faults; n++) await oneFault(storm, n);
    for (const log of logs) log.write(each);
    await settled(logs);
    const reports = logs.map((log) => reportOf(log, window));
    const { left, goneMs } = await leave(window, relay, { folder: sshd.folder, seconds: silenceSeconds });
    return {
      seed,
      faults: options.faults,
      lines: logs.reduce((sum, log) => sum + log.written, 0),
      logs: reports,
      backMs: storm.backMs,
      connectedMs: storm.connectedMs,
      toasts: eyes.toasts(),
      rejections,
      falseStates: eyes.falseStates(),
      left,
      goneMs,
    };
  } finally {
    recording.stop();
    window?.close();
    await relay.stop();
    await sshd.stop();
    process.off("unhandledRejection", hear);
    process.off("uncaughtException", hear);
  }
}

interface Storm {
  readonly options: ChaosOptions;
  readonly relay: Relay;
  readonly window: StoryWindow;
  readonly logs: readonly NumberedLog[];
  readonly random: () => number;
  readonly say: (text: string) => void;
  readonly backMs: number[];
  readonly connectedMs: number[];
}

async function oneFault(storm: Storm, n: number): Promise<void> {
  const { options, relay, logs, random, window, say } = storm;
  const lines = Math.floor(options.lines / logs.length / (options.faults + 1));
  await writeFor(storm, 200 + random() * 800, Math.floor(lines * 0.4));
  const fault = faults[Math.floor(random() * faults.length)] ?? "cut";
  const ms = random() < 0.05 ? options.patientMs : 50 + random() * random() * options.faultMs;
  await relay.suffer(fault);
  await writeFor(storm, ms, Math.floor(lines * 0.6));
  await relay.suffer();
  // Sometimes the next fault comes while it is still catching up.
  if (random() < 0.25) {
    say(`${n} ${fault} ${Math.round(ms)} ms: not waited for`);
    return;
  }
  const began = performance.now();
  const cut = connectionOf(window) !== "connected";
  const goals = logs.map((log) => {
    log.write(1);
    return log.written;
  });
  const back = (): boolean => logs.every((log, i) => log.sightings.last >= (goals[i] ?? 0));
  let connectedMs = 0;
  await until(
    () => `back after fault ${n} (${fault}, ${Math.round(ms)} ms): ${connectionWords(window)}; ${said(logs)}`,
    () => {
      if (connectedMs === 0 && connectionOf(window) === "connected") connectedMs = performance.now() - began;
      return back();
    },
    180,
  );
  const backMs = performance.now() - began;
  storm.backMs.push(backMs);
  if (cut) storm.connectedMs.push(connectedMs);
  say(`${n} ${fault} ${Math.round(ms)} ms: back after ${Math.round(backMs)} ms`);
}

/** So many lines go to each log in so much time, and it is rotated now and then. */
async function writeFor({ logs, random }: Storm, ms: number, lines: number): Promise<void> {
  const end = performance.now() + ms;
  const batches = Math.max(1, Math.min(50, Math.floor(ms / 40)));
  const size = Math.floor(lines / batches);
  for (let batch = 0; batch < batches; batch++) {
    for (const log of logs) {
      log.write(batch === 0 ? lines - size * (batches - 1) : size, random() < 0.3 ? Math.floor(random() * 60) : 0);
      if (random() >= 0.7 / batches || performance.now() - log.rotatedAt < rotationsApartMs) continue;
      const ways = rotationsOf[log.name] ?? [];
      log.rotate(ways[Math.floor(random() * ways.length)] ?? "rename", random() < 0.5 ? Math.floor(random() * 20) : 0);
    }
    const left = end - performance.now();
    if (left > 0) await sleep(left / (batches - batch));
  }
}

/** What the product has read, as lines: the documents' own bytes. */
function record(logs: readonly NumberedLog[]): { watch(window: StoryWindow): void; stop(): void } {
  const prototype = FollowedLog.prototype;
  const push = Object.getOwnPropertyDescriptor(prototype, "push")?.value as FollowedLog["push"];
  const reset = Object.getOwnPropertyDescriptor(prototype, "reset")?.value as FollowedLog["reset"];
  let find: (log: FollowedLog) => NumberedLog | undefined = () => undefined;
  const rests = new Map<FollowedLog, string>();
  const early = new Map<FollowedLog, string[]>();
  const tell = (log: FollowedLog, lines: readonly string[]): void => {
    const known = find(log);
    if (!known) {
      early.set(log, [...(early.get(log) ?? []), ...lines]);
      return;
    }
    for (const line of [...(early.get(log) ?? []), ...lines]) known.saw(line);
    early.delete(log);
  };
  prototype.push = function (this: FollowedLog, bytes) {
    push.call(this, bytes);
    const lines = ((rests.get(this) ?? "") + Buffer.from(bytes).toString("latin1")).split("\n");
    rests.set(this, lines.pop() ?? "");
    tell(this, lines);
  };
  prototype.reset = function (this: FollowedLog, ...where) {
    reset.apply(this, where);
    rests.set(this, "");
  };
  return {
    watch: (window) => {
      find = (found) => logs.find(({ name }) => window.logs.text(storyId, name, "0") === found);
      for (const log of [...early.keys()]) tell(log, []);
    },
    stop: () => {
      prototype.push = push;
      prototype.reset = reset;
    },
  };
}

/** What a person would have been told, and what would have stood in the tree. */
function watchEyes(window: StoryWindow): { toasts(): number; falseStates(): readonly string[] } {
  const told = new Set<string>();
  const states = new Set<string>();
  let toasts = 0;
  window.store.onDidChange(() => {
    for (const notice of notices(window.store.sessions.values(), told, Date.now()).ready) {
      toasts++;
      for (const key of notice.keys) told.add(key);
    }
    for (const [name, stage] of window.session().stages) {
      const { kind } = lastSeen(stage.state);
      if (kind === "failed" || kind === "lost" || kind === "stopped") states.add(`${name}: ${kind}`);
    }
  });
  return { toasts: () => toasts, falseStates: () => [...states] };
}

/** The window closes on a link that fell silent, so that no goodbye reaches the host. */
async function leave(
  window: StoryWindow,
  relay: Relay,
  host: { readonly folder: string; readonly seconds: number },
): Promise<{ left: readonly string[]; goneMs: number }> {
  const ours = (): number[] => processesWith(`HOME=${host.folder}`);
  await relay.suffer("half-open");
  const began = performance.now();
  window.close();
  await until("nothing is left", () => ours().length === 0, host.seconds + 60).catch(() => undefined);
  return { left: ours().map(wordsOf), goneMs: performance.now() - began };
}

function wordsOf(pid: number): string {
  try {
    const of = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8").replaceAll("\0", " ");
    return `${of("stat").split(" ").slice(0, 4).join(" ")} ${of("cmdline").slice(0, 200)}`;
  } catch {
    return `${pid}`;
  }
}

function reportOf(log: NumberedLog, window: StoryWindow | undefined): LogReport {
  const { seen, strange } = log.sightings;
  const count = (holds: (n: number) => boolean): number => {
    let found = 0;
    for (let n = 1; n <= log.written; n++) if (holds(n)) found++;
    return found;
  };
  return {
    log: log.name,
    rotations: (rotationsOf[log.name] ?? []).join(", "),
    written: log.written,
    lost: count((n) => seen[n] === 0),
    destroyedUnread: count((n) => seen[n] === 0 && log.destroyed[n] === 1),
    missed: count((n) => seen[n] === 0 && log.destroyed[n] === 0),
    firstMissed: ranges((n) => n <= log.written && seen[n] === 0 && log.destroyed[n] === 0, log.written).slice(0, 5),
    doubled: count((n) => (seen[n] ?? 0) > 1),
    strange,
    toldLost: window?.member(log.name).log?.lost ?? 0,
  };
}

/** `12-40`, for all runs of numbers that hold. */
function ranges(holds: (n: number) => boolean, last: number): readonly string[] {
  const found: string[] = [];
  let from = 0;
  for (let n = 1; n <= last + 1; n++) {
    if (holds(n) && from === 0) from = n;
    if (holds(n) || from === 0) continue;
    found.push(`${from}-${n - 1}`);
    from = 0;
  }
  return found;
}

/** All has come, or nothing more does; what is doubled would come late. */
async function settled(logs: readonly NumberedLog[]): Promise<void> {
  for (let before = -1, still = 0; still < 2 || (still < 24 && !logs.every((log) => log.whole)); still++) {
    const now = logs.reduce((sum, { sightings }) => sum + sightings.seen.reduce((a, b) => a + b, 0), 0);
    if (now !== before) still = -1;
    before = now;
    await sleep(2500);
  }
}

/** With `CHAOS_LOG` in the environment the product's own log is shown. */
function loggerOf(say: (text: string) => void): Logger {
  const began = performance.now();
  const tell = (message: string): void => {
    say(`${Math.round(performance.now() - began)} ${message}`);
  };
  return { debug: tell, info: tell, warn: tell, error: tell };
}

function connectionOf(window: StoryWindow): string {
  return window.session().hosts.get("gpu8")?.connection.kind ?? "";
}

function connectionWords(window: StoryWindow): string {
  return JSON.stringify(window.session().hosts.get("gpu8")?.connection);
}

function said(logs: readonly NumberedLog[]): string {
  return logs.map(({ name, written, sightings }) => `${name} ${sightings.last} of ${written}`).join(", ");
}

function fileFor(logs: readonly NumberedLog[], home: string): string {
  const stages = logs.map(({ name, path }) => `  ${name}:\n    log: ${path}\n`);
  return `session: chaos\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state\nstages:\n${stages.join("")}`;
}

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
