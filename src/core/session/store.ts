import { Emitter, type Disposable, type Event } from "../lifecycle";
import { applyEvent, newSession } from "./apply";
import type { SessionDefinition } from "./definition";
import type { SessionEvent } from "./events";
import type { Session } from "./model";

/** What views and commands see: read, and be told of changes. Both maps and sessions are replaced, never changed. */
export interface SessionReader {
  readonly sessions: ReadonlyMap<string, Session>;
  /** Fires after changes, at most once per `coalesceMs`; compare with what was drawn by `!==`. */
  readonly onDidChange: Event<void>;
}

/** Calls `run` once, later. Injected: the extension uses a timer, tests call it themselves. */
export type Schedule = (run: () => void) => Disposable;

/** The one picture of all sessions of the window. Written by monitor and launcher only. */
export class SessionStore implements SessionReader, Disposable {
  readonly #changes = new Emitter<undefined>();
  readonly #schedule: Schedule;
  #sessions: ReadonlyMap<string, Session> = new Map();
  #pending: Disposable | undefined;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  get sessions(): ReadonlyMap<string, Session> {
    return this.#sessions;
  }

  readonly onDidChange: Event<void> = (listener) => this.#changes.event(listener);

  /** Adds a session, or gives an open one its new definition; what was seen of its stages stays. */
  open(id: string, definition: SessionDefinition, at: number): void {
    const old = this.#sessions.get(id);
    this.#put(id, old ? applyEvent(old, { type: "defined", at, definition }) : newSession(id, definition, at));
  }

  close(id: string): void {
    if (!this.#sessions.has(id)) return;
    this.#sessions = new Map([...this.#sessions].filter(([key]) => key !== id));
    this.#announce();
  }

  /** Takes an event into the session's picture; unknown sessions are ignored (theirs was closed meanwhile). */
  apply(id: string, event: SessionEvent): void {
    const old = this.#sessions.get(id);
    if (old) this.#put(id, applyEvent(old, event));
  }

  #put(id: string, session: Session): void {
    if (this.#sessions.get(id) === session) return;
    this.#sessions = new Map(this.#sessions).set(id, session);
    this.#announce();
  }

  #announce(): void {
    this.#pending ??= this.#schedule(() => {
      this.#pending = undefined;
      this.#changes.fire(undefined);
    });
  }

  dispose(): void {
    this.#pending?.dispose();
    this.#changes.dispose();
  }
}
