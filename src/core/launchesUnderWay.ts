/**
 * Members, as `stage/member`, whose launch is under way in this window, by session: between the decision and the host's
 * answer nothing else shows whose GPUs they are about to use. Shared by all that launch by themselves.
 */
export class LaunchesUnderWay {
  readonly #sessions = new Map<string, Set<string>>();

  of(session: string): Set<string> {
    const known = this.#sessions.get(session) ?? new Set<string>();
    this.#sessions.set(session, known);
    return known;
  }
}
