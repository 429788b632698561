/**
 * ssh2 cannot do what this host or its configuration asks for, and OpenSSH can: the connection is made anew, by the
 * system's `ssh`. Thrown before a credential that somebody typed was refused, never after.
 */
export class SystemSshNeeded extends Error {
  override readonly name = "SystemSshNeeded";
  /** Whether a person must be there: a security key is touched for each login. */
  readonly needsTouch: boolean;

  /** @param why in plain words, to be put after "the system's ssh is used:" */
  constructor(why: string, needsTouch = false) {
    super(why);
    this.needsTouch = needsTouch;
  }
}

/** Whether ssh2 handed the connection over. */
export function isHandover(error: unknown): error is SystemSshNeeded {
  return error instanceof SystemSshNeeded;
}
