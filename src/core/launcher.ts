import { ExpectedError, messageOf } from "./errors";
import type { ExistingWork, SetAside } from "./existingWork";
import type { Clock, HostOps, LaunchOutcome, LaunchRequest, Logger } from "./ports";
import { ofMember, type HostDefinition, type StageDefinition } from "./session/definition";
import type { MemberRef, SessionEvent } from "./session/events";
import { amountThere, checkpointThere } from "./session/existingWords";
import { noteText, type LaunchNote } from "./session/launchNote";
import type { Again, Session } from "./session/model";
import { existingQuery, pointOf, type RestartPlan, type RestartWay } from "./session/restartPlan";
import { resumeCommand } from "./session/resumeCommand";
import type { SessionStore } from "./session/store";

/** All of a launch that the workspace decides; shown before the first one, and remembered by its content. */
export interface LaunchQuestion {
  readonly session: string;
  readonly stage: string;
  readonly host: HostDefinition;
  readonly request: LaunchRequest;
  /** What runs instead of the request's command when the stage goes on with what is there, if that is another one. */
  readonly resumeCommand?: string;
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

/** What a person chose of a `RestartPlan`. */
export interface RestartChosen extends Pick<RestartPlan, "orphanRuns" | "resume"> {
  readonly way: RestartWay;
}

/** What came of a restart. `kept`: outputs that were renamed or copied before. */
export interface Restarted {
  /** False: the person said no, and nothing was done. */
  readonly launched: boolean;
  readonly kept: readonly SetAside[];
}

/** How a start differs from what the session file says. */
interface Start {
  /** Goes on with what is there. */
  readonly resumes: boolean;
  readonly note: LaunchNote;
  /** A retry of this run, of which nobody hears until it has begun. */
  readonly after?: string;
}

const plainly: RestartChosen = { way: "again", orphanRuns: [], resume: {} };
const anew: Start = { resumes: false, note: {} };

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
    const questions = refs.map((ref) => this.#question(session, ref));
    return this.#context.approval.approve(questions);
  }

  /**
   * Starts a member of a stage. Throws ExpectedError where it cannot or may not be, in words for the person.
   * Returns false if the person said no.
   * @param unasked nobody is there to be asked: what was not approved yet is refused
   */
  async launch(session: string, ref: MemberRef, unasked = false): Promise<boolean> {
    const { clock, approval } = this.#context;
    const question = this.#question(session, ref);
    if (!unasked && !(await approval.approve([question]))) return false;
    if (unasked && !(await approval.isApproved(question))) {
      const reason = "what it runs has changed since it was approved: launch it by hand.";
      this.#apply(session, { type: "launch-refused", at: clock.now(), ...ref, reason });
      throw new ExpectedError(`${ref.stage} was not started: ${reason}`);
    }
    await this.#start(session, ref, anew);
    return true;
  }

  async #start(session: string, ref: MemberRef, start: Start): Promise<void> {
    const { clock } = this.#context;
    this.#apply(session, { type: "launching", at: clock.now(), ...ref });
    try {
      const outcome = await this.#send(session, ref, start);
      if (outcome.kind === "refused") throw new ExpectedError(outcome.reason);
      if (outcome.kind === "superseded")
        throw new ExpectedError(`${ref.stage} was started by somebody else meanwhile.`);
      if (outcome.kind === "already-running") {
        throw new ExpectedError(
          `${ref.stage} is already running (since ${new Date(outcome.record.startedAt).toISOString()}).`,
        );
      }
    } catch (error) {
      this.#apply(session, { type: "launch-refused", at: clock.now(), ...ref, reason: messageOf(error) });
      throw error;
    }
  }

  async #send(session: string, ref: MemberRef, start: Start): Promise<LaunchOutcome> {
    const { clock, logger, launchedFrom } = this.#context;
    const { definition, host, ops } = this.#place(session, ref);
    const base = this.#request(session, definition, ref);
    const request: LaunchRequest = {
      ...base,
      ...(start.resumes ? { command: resumeCommand(definition) ?? base.command } : {}),
      launchedFrom: noteText(launchedFrom, start.note),
      ...(start.after === undefined ? {} : { after: start.after }),
    };
    logger.info(`${host.name}: launch ${ref.stage}: ${request.command}`);
    const outcome = await ops.launch(request);
    logger.info(`${host.name}: launch ${ref.stage}: ${outcome.kind}`);
    if (outcome.kind === "launched")
      this.#apply(session, { type: "records", at: clock.now(), host: host.name, records: [outcome.record] });
    return outcome;
  }

  /** Ends a member's run: its signal, grace, KILL. Throws ExpectedError if something of it survived. */
  async stop(session: string, ref: MemberRef): Promise<void> {
    const { run } = this.#place(session, ref);
    if (run === undefined)
      throw new ExpectedError(`${ref.stage} was not started from here, so it is not stopped from here.`);
    await this.#stopRun(session, ref, run);
  }

  async #stopRun(session: string, ref: MemberRef, run: string): Promise<void> {
    const { launchedFrom, logger } = this.#context;
    const { definition, ops } = this.#place(session, ref);
    const name = this.#session(session).definition.name;
    logger.info(`${definition.host}: stop ${ref.stage} (run ${run}) by SIG${definition.stop.signal}`);
    const outcome = await ops.stop(name, run, { ...definition.stop, requestedBy: launchedFrom });
    logger.info(`${definition.host}: stop ${ref.stage}: ${outcome.kind}`);
    if (outcome.kind === "refused") throw new ExpectedError(outcome.reason);
    if (outcome.kind === "not-stopped") {
      throw new ExpectedError(`${ref.stage} is still there: ${outcome.survivors.join(", ")}`);
    }
    if (outcome.kind === "stopped" && outcome.others) {
      logger.warn(`${definition.host}: left alone: ${outcome.others.join(", ")}`);
    }
  }

  /** What a restart would meet on the host; undefined where the host could not answer. Throws where it is not connected. */
  async existing(session: string, ref: MemberRef): Promise<ExistingWork | undefined> {
    const { definition, ops } = this.#place(session, ref);
    try {
      return await ops.existing(existingQuery(this.#session(session), definition, ref));
    } catch (error) {
      this.#context.logger.warn(`${definition.host}: what ${ref.stage} would meet: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * Stops the member if it runs, ends what is left of older runs, keeps its outputs from being written over as was chosen,
   * and starts it. Throws ExpectedError, with where outputs are now, if it cannot be started.
   */
  async restart(session: string, ref: MemberRef, chosen: RestartChosen = plainly): Promise<Restarted> {
    const { approval, logger } = this.#context;
    // First of all: a person who says no loses nothing by it.
    if (!(await approval.approve([this.#question(session, ref)]))) return { launched: false, kept: [] };
    const member = this.#session(session)
      .stages.get(ref.stage)
      ?.members.find((m) => m.name === ref.member);
    if (member?.run?.liveness === "running" && !member.run.end) await this.stop(session, ref);
    const { definition, ops } = this.#place(session, ref);
    for (const run of chosen.orphanRuns) await this.#stopRun(session, ref, run);
    const query = existingQuery(this.#session(session), definition, ref);
    const how = { aside: "move", copy: "copy", again: undefined, over: undefined, resume: undefined } as const;
    const keep = how[chosen.way];
    const kept = keep === undefined ? [] : await ops.setAside(query, keep);
    for (const { from, to } of kept) logger.info(`${definition.host}: ${from} is kept as ${to}`);
    const resumes = chosen.way === "resume";
    try {
      await this.#start(session, ref, { resumes, note: resumes ? { resume: chosen.resume } : {} });
    } catch (error) {
      if (kept.length === 0) throw error;
      const where = kept.map(({ from, to }) => `${from} is kept as ${to}.`).join(" ");
      throw new ExpectedError(`${messageOf(error)} ${where}`, { cause: error });
    }
    return { launched: true, kept };
  }

  /** Why a failed member must not be started again with nobody there; undefined if it may. Throws if the host is away. */
  async retryHindrance(session: string, ref: MemberRef): Promise<string | undefined> {
    return (await this.#retryMeets(session, ref)).hindrance;
  }

  /** Starts a failed member again with nobody there, at most once over all windows; or says in the picture why not. */
  async retry(session: string, ref: MemberRef, run: string, due: Extract<Again, { kind: "due" }>): Promise<void> {
    const { hindrance, work, resumes } = await this.#retryMeets(session, ref);
    if (hindrance !== undefined) {
      this.holdRetry(session, ref, run, hindrance);
      return;
    }
    for (const left of new Set(work.processes.map((one) => one.run))) await this.#stopRun(session, ref, left);
    const { definition } = this.#place(session, ref);
    const member = this.#session(session)
      .stages.get(ref.stage)
      ?.members.find((m) => m.name === ref.member);
    const note: LaunchNote = {
      retry: { attempt: due.attempt, of: due.of, after: run },
      ...(resumes ? { resume: pointOf(definition, member, work) } : {}),
    };
    const outcome = await this.#send(session, ref, { resumes, note, after: run });
    if (outcome.kind === "refused") this.holdRetry(session, ref, run, outcome.reason);
  }

  /** A run is not started again by itself, and the picture says why. */
  holdRetry(session: string, ref: MemberRef, run: string, why: string): void {
    this.#apply(session, { type: "retry-held", at: this.#context.clock.now(), ...ref, run, why });
  }

  /** A failed run that waits for its next try is not started again: by no window, for it is written on the host. */
  async giveUpRetries(session: string, ref: MemberRef): Promise<void> {
    const { ops, run } = this.#place(session, ref);
    if (run === undefined) throw new ExpectedError(`${ref.stage} has no run that could be started again.`);
    await ops.giveUpRetries(this.#session(session).definition.name, run, this.#context.launchedFrom);
  }

  async #retryMeets(
    session: string,
    ref: MemberRef,
  ): Promise<{ readonly hindrance?: string; readonly work: ExistingWork; readonly resumes: boolean }> {
    const { definition, ops } = this.#place(session, ref);
    const work = await ops.existing(existingQuery(this.#session(session), definition, ref));
    const there = amountThere(work) ?? checkpointThere(work);
    const resumes = there !== undefined;
    if (!(await this.#context.approval.isApproved(this.#question(session, ref)))) {
      return { hindrance: "what it runs was not approved on this machine.", work, resumes };
    }
    if (there !== undefined && resumeCommand(definition) === undefined) {
      return { hindrance: `it could write over ${there}, and the stage has no \`resume\`.`, work, resumes };
    }
    return { work, resumes };
  }

  #question(session: string, ref: MemberRef): LaunchQuestion {
    const { definition, host } = this.#place(session, ref);
    const request = this.#request(session, definition, ref);
    const resumed = resumeCommand(definition);
    const other = resumed === undefined || resumed === request.command ? {} : { resumeCommand: resumed };
    return { session, stage: ref.stage, host, request, ...other };
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
