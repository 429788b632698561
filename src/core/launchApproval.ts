import type { LaunchRequest } from "./ports";
import type { HostDefinition } from "./session/definition";

/** All of a launch that the workspace decides; shown before the first one, and remembered by its content. */
export interface LaunchQuestion {
  readonly session: string;
  /** How it is called: the stage, and its member where it has a `matrix`. */
  readonly name: string;
  readonly host: HostDefinition;
  readonly request: LaunchRequest;
  /** What runs instead of the request's command when the stage goes on with what is there, if that is another one. */
  readonly resumeCommand?: string;
}

/** The person whose machine it is. */
export interface LaunchApproval {
  /**
   * Whether exactly these may run: what is new is asked for, all of it at once, then remembered on this machine.
   * @param plan what will be done with them; it is shown and asked for also where nothing is new
   */
  approve(questions: readonly LaunchQuestion[], plan?: LaunchPlanText): Promise<boolean>;
  /** Whether exactly this was approved before; asks nobody. */
  isApproved(question: LaunchQuestion): Promise<boolean>;
}

/** What a launch of many will do, in words for the one dialog that asks. */
export interface LaunchPlanText {
  readonly title: string;
  readonly detail: string;
  /**
   * Shows what the launch would meet. False: the person mended something, so that the question no longer holds.
   * @param seen whether all that would run was shown to the person, so that its set-up may be tried
   */
  readonly check?: (seen: boolean) => Promise<boolean>;
}
