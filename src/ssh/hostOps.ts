import type { LogWriter } from "../core/following";
import type {
  Clock,
  GpuReport,
  HostCost,
  HostIdentity,
  HostOps,
  Logger,
  OutputReport,
  RunRecord,
  StopOutcome,
  StopRequest,
  ToolCandidate,
  Transport,
} from "../core/ports";
import type { Disposable } from "../core/lifecycle";
import { ConnectError, ExpectedError, isConnectError, messageOf } from "../core/errors";
import type { HostDefinition } from "../core/session/definition";
import { isLoginNode, withLoginNode } from "../core/session/loginNode";
import probeScript from "../host/probe.sh";
import owners from "../host/owners.sh";
import recordList from "../host/recordList.sh";
import recordsOnce from "../host/recordsOnce.sh";
import watchScript from "../host/watch.sh";
import stopScript from "../host/stop.sh";
import { findProgram } from "./doctor";
import { existingWork, giveUpRetries, setAside } from "./existing";
import { followFile } from "./followFile";
import { findTools, readPart } from "./hostFiles";
import { watchGpus } from "./gpus";
import { readHistory } from "./history";
import { costOf, CountedTransport } from "./hostCost";
import type { HostSession } from "./hostSession";
import { envFileNames } from "./jobEnvironment";
import { launchRun } from "./launchRun";
import { Control } from "./control";
import { LogLooks } from "./logLooks";
import { LogWriters } from "./logWriters";
import { checkOutputs } from "./outputs";
import { preflight } from "./preflight";
import { hostFolder, isName, nameFolder, RecordReader } from "./records";
import { lines } from "./scriptChannel";
import { TailSeats } from "./tailSeats";
import { tokenCounts } from "./tokenCounts";

/** After so long without a sign of life from us the host ends what we run there, seconds. */
const silenceSeconds = 90;

/** How often what is watched is looked at on a login node, seconds; elsewhere each second. */
const gentlePace = 5;

/** What a host needs of its surroundings. */
interface Surroundings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Instead of 90; for tests. */
  readonly silenceSeconds?: number;
  /** How often the flight recorder looks, instead of each 10 s; for tests. */
  readonly recorderSeconds?: number;
}

/**
 * Everything the product does on a host, by the scripts of src/host over any transport. Owns the transport.
 * @throws ConnectError `no-shell` when the scripts cannot run there; what the transport throws
 */
export async function openHost(
  bare: Transport,
  definition: HostDefinition,
  surroundings: Surroundings,
): Promise<HostOps> {
  const transport = new CountedTransport(bare);
  const { clock, logger } = surroundings;
  const silence = surroundings.silenceSeconds ?? silenceSeconds;
  const control = new Control({ transport, clock, silenceSeconds: silence });
  let answer: readonly string[];
  let sentAt: number;
  const lost = new Lost(transport);
  try {
    // Start-up files may take seconds, which would be taken for a difference of clocks.
    await control.ask(["finish"], {});
    sentAt = clock.now();
    answer = await control.ask([probeScript], { state_dir: definition.stateDir });
  } catch (error) {
    control.dispose();
    if (isConnectError(error)) throw error;
    const why = await lost.soon(clock);
    if (why !== undefined)
      throw new ConnectError("unreachable", `${transport.label} cannot be reached: ${why}.`, { cause: error });
    throw new ConnectError("no-shell", `${transport.label}: ${messageOf(error)}`, { cause: error });
  } finally {
    lost.dispose();
  }
  const facts = factsOf(answer);
  const found = identityOf(facts, sentAt, clock.now());
  const identity = { ...found, has: withLoginNode(found.has, definition) };
  if (!identity.has.has("proc")) {
    throw new ConnectError("no-shell", `${transport.label} has no /proc: only Linux machines can be watched.`);
  }
  const root = facts.get("root") ?? "";
  if (facts.has("fallback"))
    logger.warn(
      `${transport.label}: the state folder ${facts.get("fallback") ?? ""} cannot be written; ${root} is used.`,
    );
  if (facts.has("unwritable"))
    logger.warn(`${transport.label}: the state folder ${root} cannot be written; nothing can be launched.`);
  const pace = isLoginNode(identity) ? gentlePace : 1;
  const variables = {
    root,
    host: hostFolder(identity),
    boot: identity.bootId,
    uid: identity.uid,
    silence_limit: silence,
    pace,
  };
  const looks = new LogLooks(control, clock, pace * 1000);
  const writers = new LogWriters(control);
  const seats = new TailSeats(clock);
  const { recorderSeconds } = surroundings;
  const shared = { transport, definition, clock, logger, identity, control, looks, writers, seats };
  const session = { ...shared, variables, recorderSeconds };
  return opsOf(session, () => costOf(session, transport.received));
}

/** A channel may break a moment before the link that carried it is known to be gone. */
const lossMs = 1000;

/** Whether the link breaks: then it says nothing about the host, and connecting is worth another try. */
class Lost {
  readonly #listening: Disposable;
  readonly #gone = new AbortController();
  #why: string | undefined;

  constructor(transport: Transport) {
    this.#listening = transport.onDidClose((why) => {
      this.#why = why;
      this.#gone.abort();
    });
  }

  /** Why it was lost, if it was or is within a second. */
  async soon(clock: Clock): Promise<string | undefined> {
    if (this.#why === undefined) await clock.sleep(lossMs, this.#gone.signal).catch(() => undefined); // it is lost
    return this.#why;
  }

  dispose(): void {
    this.#listening.dispose();
  }
}

/** Answers as `@ word text`; of `has` all are kept, a line each. */
function factsOf(answer: readonly string[]): Map<string, string> {
  const facts = new Map<string, string>();
  for (const line of answer) {
    const [, word = "", text = ""] = /^@ (\S+) (.*)$/.exec(line) ?? [];
    facts.set(word, word === "has" ? `${facts.get(word) ?? ""}${text}\n` : text);
  }
  return facts;
}

function identityOf(facts: Map<string, string>, sentAt: number, heardAt: number): HostIdentity {
  const text = (word: string): string => facts.get(word) ?? "";
  return {
    machineId: text("machine"),
    hostname: text("hostname"),
    bootId: text("boot"),
    user: text("user"),
    uid: Number(text("uid")),
    // The host looked at its clock somewhere between: the middle errs by half the round trip at most.
    clockOffsetMs: Math.round(Number(text("now")) - (sentAt + heardAt) / 2),
    home: text("home"),
    has: new Set(text("has").split("\n").filter(Boolean)),
  };
}

function opsOf(opened: HostSession, cost: () => Promise<HostCost | undefined>): HostOps {
  const { transport, identity } = opened;
  let session = opened;
  return {
    identity,
    onDidClose: transport.onDidClose,
    ping: async () => {
      await opened.control.ask(["finish"], {});
    },
    redefine: (definition) => {
      session = { ...opened, definition };
    },
    records: (name) => records(session, name),
    watchRecords: (name, signal) => watchRecords(session, name, signal),
    launch: (request, secrets) => launchRun(session, request, secrets),
    envFileNames: () => envFileNames(session),
    stop: (name, run, request) => stopRun(session, { name, run }, request),
    follow: (path, from, signal) => followFile(session, path, from, signal),
    read: (path, offset, length) => readPart(session, path, offset, length),
    gpus: (everySeconds, signal): AsyncIterable<GpuReport> => watchGpus(session, everySeconds, signal),
    checkOutputs: (check, cwd): Promise<OutputReport> => checkOutputs(session, check, cwd),
    tokenCounts: (query, cwd) => tokenCounts(session, query, cwd),
    findTools: (names, cwd): Promise<readonly ToolCandidate[]> => findTools(session, names, cwd),
    // On a login node others' processes are many, and whoever writes may run on another machine: it is not known.
    logWriter: (path, known): Promise<LogWriter> =>
      isLoginNode(identity) ? Promise.resolve({}) : session.writers.of(path, known),
    existing: (query) => existingWork(session, query),
    setAside: (query, how) => setAside(session, query, how),
    history: (since) => readHistory(session, since),
    giveUpRetries: (name, run, by) => giveUpRetries(session, name, run, by),
    preflight: (query) => preflight(session, query),
    findProgram: (query) => findProgram(session, query),
    cost,
    dispose: () => {
      session.control.dispose();
      transport.dispose();
    },
  };
}

function sessionFolder(name: string): string {
  if (!isName(name)) throw new ExpectedError(`"${name}" cannot be the name of a session.`);
  return nameFolder(name);
}

async function records(session: HostSession, name: string): Promise<readonly RunRecord[]> {
  const variables = { ...session.variables, session: sessionFolder(name) };
  const reader = new RecordReader(session.identity, session.logger);
  for (const line of await session.control.ask([recordList, recordsOnce], variables)) reader.line(line);
  return reader.take();
}

async function* watchRecords(
  session: HostSession,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<readonly RunRecord[]> {
  const variables = { ...session.variables, session: sessionFolder(name) };
  const reader = new RecordReader(session.identity, session.logger);
  for await (const line of lines(session.control.stream([recordList, watchScript], variables, signal))) {
    if (line !== "@ done") {
      reader.line(line);
    } else {
      // What a run wrote before it ended is wanted at once.
      session.looks.hurry();
      yield reader.take();
    }
  }
  throw new Error(`The watch of ${name} on ${session.transport.label} ended: the link broke.`);
}

async function stopRun(
  session: HostSession,
  target: { readonly name: string; readonly run: string },
  request: StopRequest,
): Promise<StopOutcome> {
  if (!isName(target.run)) return { kind: "refused", reason: `"${target.run}" cannot be the name of a run.` };
  const answer = await session.control.ask([owners, stopScript], {
    ...session.variables,
    session: sessionFolder(target.name),
    run: target.run,
    signal: request.signal,
    grace: Math.max(0, Math.floor(request.graceSeconds)),
    by: request.requestedBy,
  });
  const told = (word: string): readonly string[] =>
    answer.flatMap((line) => (line.startsWith(`@ ${word} `) ? [line.slice(`@ ${word} `.length)] : []));
  const survivors = told("survivor");
  const others = told("other");
  if (survivors.length > 0) return { kind: "not-stopped", survivors };
  const [, word = "", text = ""] = /^@ (\S+) ?(.*)$/.exec(answer[0] ?? "") ?? [];
  if (word === "refused") return { kind: "refused", reason: text };
  if (word === "not-running") return { kind: "not-running" };
  if (word === "stopped") return { kind: "stopped", forced: text === "1", ...(others.length === 0 ? {} : { others }) };
  return { kind: "not-stopped", survivors: ["The host did not say what is left."] };
}
