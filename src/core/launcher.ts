import { ExpectedError, messageOf } from "./errors";
import type { Clock, HostOps, LaunchRequest, Logger } from "./ports";
import { ofMember, type HostDefinition, type StageDefinition } from "./session/definition";
import type { MemberRef, SessionEvent } from "./session/events";
import type { Session } from "./session/model";
import type { SessionStore } from "./session/store";

/** All of a launch that the workspace decides; shown before the first one, and remembered by its content. */
export interface LaunchQuestion {
  readonly session: string;
  readonly stage: string;
  readonly host: HostDefinition;
  readonly request: LaunchRequest;
}

/** The person whose machine it is. */
export interface LaunchApproval {
  /** Whether exactly these may run: what is new is asked for, all of it at once, then remembered on this machine. */
  approve(questions: readonly LaunchQuestion[]): Promise<boolean>;
  /** Whether exactly this was approved before; asks nobody. */
  isApproved(question: LaunchQuestion): Promise<boolean>;
}

export interface LauncherContext {
  readonly store: SessionStore;
  /** The connected host of a session, if it is. */
  readonly opsOf: (session: string, host: string) => HostOps | undefined;
  readonly approval: LaunchApproval;
  readonly isTrusted: () => boolean;
  readonly clock: Clock;
  /** Hears of each action on a host, before it is done and how it ended. */
  readonly logger: Logger;
  /** For the record on the host: `user@laptop`. */
  readonly launchedFrom: string;
}

/** Starts and stops stages on their hosts. What came of it is seen by the monitor; the picture follows the host. */
export class Launcher {
  readonly #context: LauncherContext;

  constructor(context: LauncherContext) {
    this.#context = context;
  }

  /**
   * Asks for all launches that were not approved yet, at once. False if the person said no. Throws ExpectedError where
   * one of them could not be started.
   */
  async approve(session: string, refs: readonly MemberRef[]): Promise<boolean> {
    const questions = refs.map((ref): LaunchQuestion => {
      const { definition, host } = this.#place(session, ref);
      return { session, stage: ref.stage, host, request: this.#request(session, definition, ref) };
    });
    return this.#context.approval.approve(questions);
  }

  /**
   * Starts a member of a stage. Throws ExpectedError where it cannot or may not be, in words for the person.
   * Returns false if the person said no.
   * @param unasked nobody is there to be asked: what was not approved yet is refused
   */
  async launch(session: string, ref: MemberRef, unasked = false): Promise<boolean> {
    const { clock, approval, logger } = this.#context;
    const { definition, host, ops } = this.#place(session, ref);
    const request = this.#request(session, definition, ref);
    const question: LaunchQuestion = { session, stage: ref.stage, host, request };
    if (!unasked && !(await approval.approve([question]))) return false;
    if (unasked && !(await approval.isApproved(question))) {
      const reason = "what it runs has changed since it was approved: launch it by hand.";
      this.#apply(session, { type: "launch-refused", at: clock.now(), ...ref, reason });
      throw new ExpectedError(`${ref.stage} was not started: ${reason}`);
    }
    this.#apply(session, { type: "launching", at: clock.now(), ...ref });
    logger.info(`${host.name}: launch ${ref.stage}: ${request.command}`);
    try {
      const outcome = await ops.launch(request);
      logger.info(`${host.name}: launch ${ref.stage}: ${outcome.kind}`);
      if (outcome.kind === "refused") throw new ExpectedError(outcome.reason);
      if (outcome.kind === "superseded") throw new ExpectedError(`${ref.stage} was started by somebody else meanwhile.`);
      if (outcome.kind === "already-running") {
        throw new ExpectedError(
          `${ref.stage} is already running (since ${new Date(outcome.record.startedAt).toISOString()}).`,
        );
      }
      this.#apply(session, { type: "records", at: clock.now(), host: host.name, records: [outcome.record] });
      return true;
    } catch (error) {
      this.#apply(session, { type: "launch-refused", at: clock.now(), ...ref, reason: messageOf(error) });
      throw error;
    }
  }

  /** Ends a member's run: its signal, grace, KILL. Throws ExpectedError if something of it survived. */
  async stop(session: string, ref: MemberRef): Promise<void> {
    const { launchedFrom, logger } = this.#context;
    const { definition, ops, run } = this.#place(session, ref);
    if (run === undefined)
      throw new ExpectedError(`${ref.stage} was not started from here, so it is not stopped from here.`);
    const name = this.#session(session).definition.name;
    logger.info(`${definition.host}: stop ${ref.stage} (run ${run}) by SIG${definition.stop.signal}`);
    const outcome = await ops.stop(name, run, { ...definition.stop, requestedBy: launchedFrom });
    logger.info(`${definition.host}: stop ${ref.stage}: ${outcome.kind}`);
    if (outcome.kind === "refused") throw new ExpectedError(outcome.reason);
    if (outcome.kind === "not-stopped") {
      throw new ExpectedError(`${ref.stage} is still there: ${outcome.survivors.join(", ")}`);
    }
  }

  /** Stops the member if it runs, then starts it. */
  async restart(session: string, ref: MemberRef): Promise<boolean> {
    const member = this.#session(session)
      .stages.get(ref.stage)
      ?.members.find((m) => m.name === ref.member);
    if (member?.run?.liveness === "running" && !member.run.end) await this.stop(session, ref);
    return this.launch(session, ref);
  }

  #session(id: string): Session {
    const session = this.#context.store.sessions.get(id);
    if (!session) throw new ExpectedError("This session is no longer open.");
    return session;
  }

  #place(
    id: string,
    ref: MemberRef,
  ): { definition: StageDefinition; host: HostDefinition; ops: HostOps; run?: string } {
    if (!this.#context.isTrusted()) {
      throw new ExpectedError("This workspace is in Restricted Mode: nothing is started or stopped from it.");
    }
    const session = this.#session(id);
    const stage = session.stages.get(ref.stage);
    if (!stage) throw new ExpectedError(`The session has no stage ${ref.stage}.`);
    const host = session.hosts.get(stage.definition.host)?.definition;
    const ops = this.#context.opsOf(id, stage.definition.host);
    if (!host || !ops) throw new ExpectedError(`${stage.definition.host} is not connected.`);
    const run = stage.members.find((member) => member.name === ref.member)?.run?.run;
    return { definition: ofMember(stage.definition, ref.member), host, ops, ...(run === undefined ? {} : { run }) };
  }

  #request(id: string, stage: StageDefinition, ref: MemberRef): LaunchRequest {
    const { command, cwd, log, gpus, env, unsupported } = stage;
    if (command === undefined) throw new ExpectedError(`${stage.name} has no command: it can be watched, not started.`);
    if (unsupported.length > 0) {
      throw new ExpectedError(`${stage.name} cannot be started by this version: ${unsupported.join(" ")}`);
    }
    return {
      session: this.#session(id).definition.name,
      stage: stage.name,
      member: ref.member,
      command,
      ...(cwd === undefined ? {} : { cwd }),
      ...(log === undefined ? {} : { log }),
      ...(gpus === undefined ? {} : { gpus }),
      env,
      launchedFrom: this.#context.launchedFrom,
    };
  }

  #apply(session: string, event: SessionEvent): void {
    this.#context.store.apply(session, event);
  }
}
