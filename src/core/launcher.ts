import { ExpectedError, messageOf } from "./errors";
import type { ExistingWork, SetAside } from "./existingWork";
import { checkLaunches, type CheckedLaunch } from "./launchCheck";
import { requestOf } from "./launchRequest";
import { secretsOf, type SecretStore } from "./launchSecrets";
import type { Clock, HostOps, LaunchOutcome, LaunchRequest, Logger, SecretValues } from "./ports";
import type { LaunchApproval, LaunchPlanText, LaunchQuestion } from "./launchApproval";
import { ofMember, type HostDefinition, type StageDefinition } from "./session/definition";
import type { MemberRef, SessionEvent } from "./session/events";
import { amountThere, checkpointThere, orphanRuns } from "./session/existingWords";
import { memberTitle } from "./session/memberTitle";
import { noteText, type LaunchNote } from "./session/launchNote";
import type { Again, Member, Session } from "./session/model";
import type { ProgramPlaces } from "./programSearch";
import { namesOf } from "./session/cure";
import type { CheckedMember } from "./session/preflightSections";
import { existingQuery, pointOf, type RestartPlan, type RestartWay } from "./session/restartPlan";
import { resumeCommand } from "./session/resumeCommand";
import type { SessionStore } from "./session/store";

export interface LauncherContext {
  readonly store: SessionStore;
  /** The connected host of a session, if it is. */
  readonly opsOf: (session: string, host: string) => HostOps | undefined;
  readonly approval: LaunchApproval;
  readonly secrets: SecretStore;
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
  /** Nothing starts where there is a later run than this one; `""`: none was known. */
  readonly newest?: string;
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
  async approve(session: string, refs: readonly MemberRef[], plan?: LaunchPlanText): Promise<boolean> {
    const questions = refs.map((ref) => this.#question(session, ref));
    if (!(await this.#context.approval.approve(questions, plan))) return false;
    // Asked for while somebody is there, and before anything is stopped.
    for (const ref of refs) await this.#secrets(session, ref, true);
    return true;
  }

  #secrets(session: string, ref: MemberRef, personThere: boolean): Promise<SecretValues> {
    const { definition, host, ops } = this.#place(session, ref);
    return secretsOf(this.#context.secrets, { host, ops, env: definition.env }, personThere);
  }

  /**
   * Starts a member of a stage. Throws ExpectedError where it cannot or may not be, in words for the person.
   * Returns false if the person said no.
   */
  async launch(session: string, ref: MemberRef): Promise<boolean> {
    if (!(await this.approve(session, [ref]))) return false;
    await this.#start(session, ref, anew);
    return true;
  }

  /**
   * Starts a member with nobody there to be asked: only what was approved, and over what is there only in the way that a
   * person chose before (or by the stage's own `resume`). Else the picture says why not, and it throws ExpectedError.
   */
  async launchUnasked(session: string, ref: MemberRef, way: RestartWay | undefined): Promise<void> {
    const newest = this.#member(session, ref)?.run?.run ?? "";
    try {
      const { hindrance, work, resumes } = await this.#retryMeets(session, ref, way);
      if (hindrance !== undefined) throw new ExpectedError(hindrance);
      // A run that is not known here may be the one that another window has just started.
      const stranger = work.processes.find(({ run }) => run !== newest);
      if (stranger)
        throw new ExpectedError(`a process of another run of it is alive: ${stranger.name} (${stranger.pid}).`);
      const { definition } = this.#place(session, ref);
      const resume = pointOf(definition, this.#member(session, ref), work);
      const chosen: RestartWay = resumes ? (way ?? "resume") : "again";
      await this.#again(session, ref, { way: chosen, orphanRuns: orphanRuns(work), resume }, newest);
    } catch (error) {
      this.#tellRefused(session, ref, newest, error);
      throw error;
    }
  }

  #tellRefused(session: string, ref: MemberRef, newest: string, error: unknown): void {
    const at = this.#context.clock.now();
    this.#apply(session, { type: "launch-refused", at, ...ref, reason: messageOf(error), newest });
  }

  async #start(session: string, ref: MemberRef, start: Start): Promise<void> {
    const newest = this.#member(session, ref)?.run?.run ?? "";
    this.#apply(session, { type: "launching", at: this.#context.clock.now(), ...ref });
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
      this.#tellRefused(session, ref, newest, error);
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
      ...(start.newest === undefined ? {} : { newest: start.newest }),
    };
    logger.info(`${host.name}: launch ${ref.stage}: ${request.command}`);
    const outcome = await ops.launch(request, await this.#secrets(session, ref, false));
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

  /**
   * Looks at all that launches of these would meet, as one, and starts nothing. Throws ExpectedError where a host is not
   * connected.
   * @param setup `all`: the person has just seen what would run and asked for the check, so set-up takes part in it
   */
  async check(
    session: string,
    refs: readonly MemberRef[],
    setup: "approved" | "all" = "approved",
  ): Promise<readonly CheckedMember[]> {
    const { approval, secrets, opsOf } = this.#context;
    const launches: CheckedLaunch[] = [];
    for (const ref of refs) {
      const question = this.#question(session, ref);
      const withSetup = setup === "all" || (await approval.isApproved(question));
      launches.push({ ref, ...this.#place(session, ref), request: question.request, withSetup });
    }
    const opsHere = (host: string): HostOps | undefined => opsOf(session, host);
    return checkLaunches(launches, { session: this.#session(session), secrets, opsOf: opsHere });
  }

  /** Where a program is on the member's host. Throws ExpectedError where the host is not connected. */
  async findProgram(session: string, ref: MemberRef, program: string): Promise<ProgramPlaces> {
    const { definition, ops } = this.#place(session, ref);
    const { cwd } = definition;
    const withSetup = await this.#context.approval.isApproved(this.#question(session, ref));
    return ops.findProgram({ names: namesOf(program), withSetup, ...(cwd === undefined ? {} : { cwd }) });
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
    // First of all: a person who says no loses nothing by it.
    if (!(await this.approve(session, [ref]))) return { launched: false, kept: [] };
    const run = this.#member(session, ref)?.run;
    if (run?.liveness === "running" && !run.end) await this.stop(session, ref);
    return { launched: true, kept: await this.#again(session, ref, chosen) };
  }

  /** Ends what is left of older runs, keeps what was chosen to be kept, and starts the member. */
  async #again(session: string, ref: MemberRef, chosen: RestartChosen, newest?: string): Promise<readonly SetAside[]> {
    const { logger } = this.#context;
    const { definition, ops } = this.#place(session, ref);
    for (const run of chosen.orphanRuns) await this.#stopRun(session, ref, run);
    const query = existingQuery(this.#session(session), definition, ref);
    const how = { aside: "move", copy: "copy", again: undefined, over: undefined, resume: undefined } as const;
    const keep = how[chosen.way];
    const kept = keep === undefined ? [] : await ops.setAside(query, keep);
    for (const { from, to } of kept) logger.info(`${definition.host}: ${from} is kept as ${to}`);
    const resumes = chosen.way === "resume";
    try {
      const note = resumes ? { resume: chosen.resume } : {};
      await this.#start(session, ref, { resumes, note, ...(newest === undefined ? {} : { newest }) });
    } catch (error) {
      if (kept.length === 0) throw error;
      const where = kept.map(({ from, to }) => `${from} is kept as ${to}.`).join(" ");
      throw new ExpectedError(`${messageOf(error)} ${where}`, { cause: error });
    }
    return kept;
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
    for (const left of orphanRuns(work)) await this.#stopRun(session, ref, left);
    const { definition } = this.#place(session, ref);
    const member = this.#member(session, ref);
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

  /** The next try of a run waits for something besides its time; undefined: no longer. */
  queueRetry(session: string, ref: MemberRef, run: string, waitsFor: string | undefined): void {
    const event = { type: "retry-queued", at: this.#context.clock.now(), ...ref, run } as const;
    this.#apply(session, waitsFor === undefined ? event : { ...event, for: waitsFor });
  }

  /** A failed run that waits for its next try is not started again: by no window, for it is written on the host. */
  async giveUpRetries(session: string, ref: MemberRef): Promise<void> {
    const { ops, run } = this.#place(session, ref);
    if (run === undefined) throw new ExpectedError(`${ref.stage} has no run that could be started again.`);
    await ops.giveUpRetries(this.#session(session).definition.name, run, this.#context.launchedFrom);
  }

  /** @param way what a person chose to do with what is there */
  async #retryMeets(
    session: string,
    ref: MemberRef,
    way?: RestartWay,
  ): Promise<{ readonly hindrance?: string; readonly work: ExistingWork; readonly resumes: boolean }> {
    const { definition, ops } = this.#place(session, ref);
    const work = await ops.existing(existingQuery(this.#session(session), definition, ref));
    const there = amountThere(work) ?? checkpointThere(work);
    const resumes = there !== undefined;
    if (!(await this.#context.approval.isApproved(this.#question(session, ref)))) {
      return { hindrance: "what it runs was not approved on this machine.", work, resumes };
    }
    if (there !== undefined && way === undefined && resumeCommand(definition) === undefined) {
      return { hindrance: `it could write over ${there}, and the stage has no \`resume\`.`, work, resumes };
    }
    return { work, resumes };
  }

  #question(session: string, ref: MemberRef): LaunchQuestion {
    const { definition, host } = this.#place(session, ref);
    const request = this.#request(session, definition, ref);
    const resumed = resumeCommand(definition);
    const other = resumed === undefined || resumed === request.command ? {} : { resumeCommand: resumed };
    return { session, name: memberTitle({ definition }, ref.member), host, request, ...other };
  }

  #session(id: string): Session {
    const session = this.#context.store.sessions.get(id);
    if (!session) throw new ExpectedError("This session is no longer open.");
    return session;
  }

  #member(session: string, ref: MemberRef): Member | undefined {
    return this.#session(session)
      .stages.get(ref.stage)
      ?.members.find(({ name }) => name === ref.member);
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
    const run = this.#member(id, ref)?.run?.run;
    return { definition: ofMember(stage.definition, ref.member), host, ops, ...(run === undefined ? {} : { run }) };
  }

  #request(id: string, stage: StageDefinition, ref: MemberRef): LaunchRequest {
    return requestOf(this.#session(id).definition.name, stage, ref.member, this.#context.launchedFrom);
  }

  #apply(session: string, event: SessionEvent): void {
    this.#context.store.apply(session, event);
  }
}
