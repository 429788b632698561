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
  if (!/^[^\s\p{Cc}\p{Cf}]+$/u.test(written))
    return { ok: false, unsafe: true, message: "must not have spaces or control characters in it." };
  const at = written.lastIndexOf("@");
  const user = at < 0 ? undefined : written.slice(0, at);
  const place = written.slice(at + 1);
  if (user !== undefined && !/^[\p{L}\p{N}_.][\p{L}\p{N}_.@+\\$-]*$/u.test(user))
    return { ok: false, unsafe: true, message: "has a user name that cannot be one." };
  const [, bracketed, plain, port] = /^(?:\[([0-9A-Fa-f:.]+(?:%\w+)?)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(place) ?? [];
  // `fe80::1` without brackets has too many colons to hold a port.
  const bare = /^[0-9A-Fa-f:.]+$/.test(place) && place.split(":").length > 2 ? place : undefined;
  const host = bracketed ?? plain ?? bare;
  if (host === undefined)
    return { ok: false, unsafe: false, message: "must be an alias, `user@host:port`, `[v6 address]:port` or `local`." };
  if (!/^[\p{L}\p{N}_:][\p{L}\p{N}_.:%-]*$/u.test(host))
    return { ok: false, unsafe: true, message: "has a host name that cannot be one." };
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535))
    return { ok: false, unsafe: false, message: "has a port that is not between 1 and 65535." };
  if (user === undefined && number === undefined && bracketed === undefined && bare === undefined)
    return { ok: true, address: { kind: "alias", alias: host } };
  return {
    ok: true,
    address: {
      kind: "direct",
      host,
      ...(user === undefined ? {} : { user }),
      ...(number === undefined ? {} : { port: number }),
    },
  };
}
