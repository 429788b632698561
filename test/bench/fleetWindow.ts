// What a window's extension host holds while it watches a fleet, in a process of its own: started by fleet.ts.
import { performance } from "node:perf_hooks";
import type { Event } from "../../src/core/lifecycle";
import { PipelineRunner } from "../../src/core/pipelineRunner";
import type { Clock, HostConnector, Logger } from "../../src/core/ports";
import { Retries } from "../../src/core/retries";
import { parseSessionFile } from "../../src/core/session/sessionFile";
import { SessionStore, type SessionReader } from "../../src/core/session/store";
import { createClock } from "../../src/core/systemClock";
import { createConnector } from "../../src/ssh/connector";
import { registerAlertsTree } from "../../src/views/alertsTree";
import { registerGpusTree } from "../../src/views/gpusTree";
import { registerStagesTree } from "../../src/views/stagesTree";
import { registerStatusBar } from "../../src/views/statusBar";
import { optionsFor } from "../ssh/connection";
import { openStory, storyId, type StoryWindow } from "../ssh/storyWindow";
import { drawn } from "./fleetEditor";
import { memoryHosts, type FleetOrder, type FleetUse } from "./fleetHosts";

/** As the extension has it. */
const coalesceMs = 200;
const patienceMs = 300_000;
/** What is done once: searches, tables, the past of the logs. */
const settleMs = 15_000;
const nothing = (): void => undefined;
const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const clock = createClock({
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => {
      clearTimeout(timer);
    };
  },
});
const updateMs: number[] = [];
let lines = 0;
/** What views draw when its time has come counts as what they draw at once. */
const drawingClock: Clock = {
  now: () => clock.now(),
  sleep: (ms, signal) => {
    const slept = clock.sleep(ms, signal);
    const then: typeof slept.then = (done, failed) =>
      Promise.prototype.then.call(
        slept,
        done && ((value: undefined) => timedDrawing(() => done(value))),
        failed,
      ) as never;
    return Object.assign(slept, { then });
  },
};
let drawing = 0;
/** What is not the product's. */
let fileBytes = (): number => 0;

const order = JSON.parse(process.argv[2] ?? "") as FleetOrder;
const window = open();
await window.open.connect(storyId, undefined, true);
await window.until("all logs are followed, all GPUs seen", isWatched, patienceMs);
await clock.sleep(settleMs);
process.send?.(await use(order.seconds));
process.exit(0);

function open(): StoryWindow {
  const { definition, problems } = parseSessionFile(order.file);
  if (definition === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
  const hosts = [...definition.hosts.keys()];
  const connector = order.configFile === undefined ? inMemory(hosts) : overSsh(order.configFile);
  countLines();
  const story = openStory(definition, connector, quiet, coalesceMs);
  const sessions = timed(story.store);
  const unasked = { store: story.store, launcher: story.launcher, isTrusted: () => true, clock, logger: quiet };
  new Retries(unasked);
  new PipelineRunner({ ...unasked, memory: { read: () => undefined, write: nothing } });
  for (const register of [registerStagesTree, registerGpusTree, registerAlertsTree, registerStatusBar])
    register({ sessions, clock: drawingClock });
  return story;
}

function inMemory(names: readonly string[]): HostConnector {
  const hosts = memoryHosts(names, order.folder, clock, quiet);
  ({ fileBytes } = hosts);
  return hosts;
}

function overSsh(configFile: string): HostConnector {
  return createConnector(optionsFor(order.folder, { sshConfigFile: configFile }));
}

/** The store as views see it, with the time that they take together. */
function timed(store: SessionStore): SessionReader {
  const listeners = new Set<() => void>();
  store.onDidChange(() => {
    timedDrawing(() => {
      for (const listener of listeners) listener();
    });
  });
  const onDidChange: Event<void> = (listener) => {
    const run = (): void => {
      listener(undefined);
    };
    listeners.add(run);
    return { dispose: () => listeners.delete(run) };
  };
  return {
    get sessions() {
      return store.sessions;
    },
    onDidChange,
  };
}

/** Adds up what is drawn in one turn of the event loop. */
function timedDrawing<T>(draw: () => T): T {
  if (drawing === 0)
    setImmediate(() => {
      updateMs.push(drawing);
      drawing = 0;
    });
  const began = performance.now();
  try {
    return draw();
  } finally {
    drawing += performance.now() - began;
  }
}

function countLines(): void {
  const apply = Object.getOwnPropertyDescriptor(SessionStore.prototype, "apply")?.value as SessionStore["apply"];
  SessionStore.prototype.apply = function (this: SessionStore, id, event) {
    if (event.type === "log") lines += event.readings?.length ?? 0;
    apply.call(this, id, event);
  };
}

function isWatched(): boolean {
  const { hosts, stages } = window.session();
  const seen = [...hosts.values()].every(({ gpus }) => gpus.length === 8);
  return seen && [...stages.values()].every(({ members: [first] }) => first?.log?.state === "following");
}

async function use(seconds: number): Promise<FleetUse> {
  const heapMb: number[] = [];
  const arraysMb: number[] = [];
  const filesMb: number[] = [];
  const weigh = (): void => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    heapMb.push(heapUsed / 1e6);
    arraysMb.push(arrayBuffers / 1e6);
    filesMb.push(fileBytes() / 1e6);
  };
  weigh();
  const before = { updates: new Map(drawn.updates), items: drawn.items, lines };
  updateMs.length = 0;
  let cpuMs = 0;
  const began = performance.now();
  for (let left = seconds; left > 0; left -= 60) {
    const cpu = process.cpuUsage();
    await clock.sleep(1000 * Math.min(60, left));
    const { user, system } = process.cpuUsage(cpu);
    cpuMs += (user + system) / 1000;
    weigh(); // not counted
  }
  const updates = [...drawn.updates].map(([id, count]) => count - (before.updates.get(id) ?? 0));
  return {
    seconds: (performance.now() - began) / 1000,
    cpuMs,
    heapMb,
    arraysMb,
    filesMb,
    updates: Math.max(...updates),
    items: drawn.items - before.items,
    updateMs,
    lines: lines - before.lines,
  };
}
