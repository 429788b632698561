import type { HostAddress } from "./definition";

/** An address that was understood, or why it was not (completes "`ssh` …"). */
export type AddressResult =
  | { readonly ok: true; readonly address: HostAddress }
  | { readonly ok: false; readonly unsafe: boolean; readonly message: string };

/**
 * Reads what `ssh:` says: `local`, an alias, `user@host`, `host:port`, `user@host:port`, `[v6]:port`. A bare word is
 * an alias, since only the user's SSH configuration knows better. What could be taken for an option or a second
 * argument of an `ssh` command line is refused.
 */
export function parseHostAddress(text: string): AddressResult {
  const written = text.trim();
  if (written === "") return { ok: false, unsafe: false, message: "is empty." };
  if (written === "local") return { ok: true, address: { kind: "local" } };
  if (/[\s\p{Cc}\p{Cf}]/u.test(written)) return unsafe("must not have spaces or control characters in it.");
  const at = written.lastIndexOf("@");
  const user = at < 0 ? undefined : written.slice(0, at);
  if (!/^[\p{L}\p{N}_.][\p{L}\p{N}_.@+\\-]*$/u.test(user ?? "none"))
    return unsafe("has a user name that cannot be one.");
  const place = parsePlace(written.slice(at + 1));
  if (place === undefined)
    return { ok: false, unsafe: false, message: "must be an alias, `user@host:port`, `[v6 address]:port` or `local`." };
  const { host, port } = place;
  if (!/^[\p{L}\p{N}_:][\p{L}\p{N}_.:%-]*$/u.test(host)) return unsafe("has a host name that cannot be one.");
  if (port === 0 || (port ?? 1) > 65_535)
    return { ok: false, unsafe: false, message: "has a port that is not between 1 and 65535." };
  return { ok: true, address: addressOf(user, place) };
}

/** A bare word is left to the user's SSH configuration; anything that says more is taken by its word. */
function addressOf(user: string | undefined, { host, port, isV6 }: Place): HostAddress {
  if (user === undefined && port === undefined && !isV6) return { kind: "alias", alias: host };
  return { kind: "direct", host, ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port }) };
}

function unsafe(message: string): AddressResult {
  return { ok: false, unsafe: true, message };
}

interface Place {
  readonly host: string;
  readonly port: number | undefined;
  readonly isV6: boolean;
}

function parsePlace(text: string): Place | undefined {
  // `fe80::1` without brackets has too many colons to hold a port.
  if (/^[0-9A-Fa-f:.]+$/.test(text) && text.split(":").length > 2) return { host: text, port: undefined, isV6: true };
  const [, v6, plain, port] = /^(?:\[([0-9A-Fa-f:.]+(?:%\w+)?)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = v6 ?? plain;
  return host === undefined
    ? undefined
    : { host, port: port === undefined ? undefined : Number(port), isV6: v6 !== undefined };
}
