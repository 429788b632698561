/**
 * An error that is part of life on remote machines, with words for the person who sees it. Everything else that is
 * thrown is a bug. Told apart by `name`, not by `instanceof`: the bundles that load on demand carry their own copy
 * of this class.
 */
export class ExpectedError extends Error {
  override readonly name = "ExpectedError";
}

/** Whether the error was foreseen and its message may be shown as it is. */
export function isExpected(error: unknown): error is Error {
  return error instanceof Error && (error.name === "ExpectedError" || error.name === "ConnectError");
}

/** Why a connection did not come about; decides whether it is tried again by itself. */
export type ConnectFailure =
  | "untrusted" // the workspace is in Restricted Mode
  | "needs-login" // a person must answer something, and nobody was asked to
  | "login-refused" // the server said no to every credential
  | "host-key-unknown" // nobody vouched for the key yet, and nobody was asked to
  | "host-key-refused" // the person said no to an unknown key
  | "host-key-changed"
  | "host-key-revoked"
  | "unreachable" // network: refused, timed out, no such name; worth another try
  | "unsupported" // the host or the client cannot do what is needed
  | "no-shell"; // logged in, but the host scripts cannot run there

/** A connection that did not come about. Only `unreachable` is ever retried without a click. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly reason: ConnectFailure;

  constructor(reason: ConnectFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** As `instanceof ConnectError`, across bundles. */
export function isConnectError(error: unknown): error is ConnectError {
  return error instanceof Error && error.name === "ConnectError" && "reason" in error;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
