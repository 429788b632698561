import { HostWatch } from "../../src/core/hostWatch";
import { FollowedLogs } from "../../src/core/followedLogs";
import { Launcher } from "../../src/core/launcher";
import { OpenSessions } from "../../src/core/openSessions";
import type { HostConnector, Logger } from "../../src/core/ports";
import type { SessionDefinition } from "../../src/core/session/definition";
import { lastSeen } from "../../src/core/session/judge";
import type { Member, Session, StageState } from "../../src/core/session/model";
import { SessionStore } from "../../src/core/session/store";
import { createClock } from "../../src/core/systemClock";

/** All of the product between a connection and the views, without an editor: what a window's extension host holds. */
export interface StoryWindow {
  readonly store: SessionStore;
  readonly open: OpenSessions;
  readonly launcher: Launcher;
  readonly logs: FollowedLogs;
  readonly session: () => Session;
  readonly member: (stage: string) => Member;
  readonly state: (stage: string) => StageState["kind"];
  /** Resolves when it holds, after any change of the picture; throws with what was seen last after `ms`. */
  readonly until: (what: string, holds: () => boolean, ms?: number) => Promise<void>;
  readonly close: () => void;
}

const id = "story";

export function openStory(
  definition: SessionDefinition,
  connector: HostConnector,
  logger: Logger = quiet,
  coalesceMs = 20,
): StoryWindow {
  const clock = createClock({ now: () => Date.now(), after });
  const store = new SessionStore((run) => ({ dispose: after(coalesceMs, run) }));
  const logs = new FollowedLogs();
  const open = new OpenSessions({ store, logs, clock, logger, loadWatch: () => Promise.resolve({ HostWatch }) });
  open.open(id, definition, connector);
  const launcher = new Launcher({
    store,
    opsOf: open.opsOf.bind(open),
    approval: { approve: () => Promise.resolve(true), isApproved: () => Promise.resolve(true) },
    secrets: { get: () => Promise.resolve(undefined), ask: () => Promise.resolve(undefined) },
    isTrusted: () => true,
    clock,
    logger,
    launchedFrom: "tester@here",
  });
  const session = (): Session => {
    const found = store.sessions.get(id);
    if (!found) throw new Error("the session is closed");
    return found;
  };
  const member = (name: string): Member => {
    const found = session().stages.get(name)?.members[0] ?? session().services.get(name)?.member;
    if (!found) throw new Error(`no stage ${name}`);
    return found;
  };
  const until = (what: string, holds: () => boolean, ms = 20_000): Promise<void> =>
    new Promise((resolve, reject) => {
      const done = (error?: Error): void => {
        listening.dispose();
        cancel();
        if (error) reject(error);
        else resolve();
      };
      const look = (): void => {
        if (holds()) done();
      };
      const listening = store.onDidChange(look);
      const cancel = after(ms, () => {
        done(new Error(`${what}: not within ${ms} ms; seen last: ${summary(session())}`));
      });
      look();
    });
  return {
    store,
    open,
    launcher,
    logs,
    session,
    member,
    state: (name) => member(name).state.kind,
    until,
    close: () => {
      open.dispose();
      store.dispose();
    },
  };
}

/** Names the session's id, for calls that take it. */
export const storyId = id;

function summary(session: Session): string {
  const hosts = [...session.hosts.values()].map(
    (host) => `${host.definition.name}: ${JSON.stringify(host.connection)}`,
  );
  const stages = [...session.stages.values()].map(({ definition, state, members }) => {
    const log = members[0]?.log;
    return `${definition.name}: ${JSON.stringify(lastSeen(state))} (${state.kind}; log ${log?.state ?? "none"} at ${log?.offset ?? 0})`;
  });
  return [...hosts, ...stages].join("; ");
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => {
    clearTimeout(timer);
  };
}

const nothing = (): void => undefined;
const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
