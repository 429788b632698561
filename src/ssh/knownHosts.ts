import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** A text in the format of known_hosts, and where it came from (for messages). */
export interface KnownHostsText {
  readonly file: string;
  readonly text: string;
}

/** A line that counts. Format: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT". */
export interface KnownHostsEntry {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly revoked: boolean;
  /** The first field: patterns divided by commas, or one hashed name. */
  readonly hosts: string;
  readonly keyType: string;
  /** The key blob as SSH sends it. */
  readonly key: Buffer;
}

/** What the files say of a host's key. `entry` is the line that decided it. */
export type HostKeyVerdict =
  | { readonly kind: "match"; readonly entry: KnownHostsEntry }
  | { readonly kind: "changed"; readonly entry: KnownHostsEntry }
  | { readonly kind: "revoked"; readonly entry: KnownHostsEntry }
  | { readonly kind: "unknown" };

/** All lines of the files that count, in their order. */
export interface KnownHosts {
  readonly entries: readonly KnownHostsEntry[];
  /** `@cert-authority` lines: ssh2 knows no certificates, so a host that one speaks of is for the system's ssh. */
  readonly authorities: readonly KnownHostsEntry[];
}

/** Reads known_hosts files. Lines that OpenSSH would not understand are passed over as it does. */
export function parseKnownHosts(texts: readonly KnownHostsText[]): KnownHosts {
  const entries: KnownHostsEntry[] = [];
  const authorities: KnownHostsEntry[] = [];
  for (const { file, text } of texts) {
    for (const [index, raw] of text.split("\n").entries()) {
      const fields = raw.trim().split(/[ \t]+/);
      const marker = fields[0]?.startsWith("@") === true ? fields.shift() : undefined;
      if (marker !== undefined && marker !== "@revoked" && marker !== "@cert-authority") continue;
      const entry = entryOf(fields, { file, line: index + 1, revoked: marker === "@revoked" });
      if (entry !== undefined) (marker === "@cert-authority" ? authorities : entries).push(entry);
    }
  }
  return { entries, authorities };
}

function entryOf(
  [hosts, keyType, encoded]: readonly string[],
  place: Pick<KnownHostsEntry, "file" | "line" | "revoked">,
): KnownHostsEntry | undefined {
  if (hosts === undefined || hosts === "" || hosts.startsWith("#") || keyType === undefined) return undefined;
  if (encoded === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, "base64");
  return keyTypeOf(key) === keyType ? { ...place, hosts, keyType, key } : undefined;
}

/** The type that a key blob names itself (RFC 4253, 6.6), or `undefined` when it is not one. */
export function keyTypeOf(key: Buffer): string | undefined {
  if (key.length < 4) return undefined;
  const length = key.readUInt32BE(0);
  return length > 0 && length <= 64 && key.length >= 4 + length ? key.toString("latin1", 4, 4 + length) : undefined;
}

/** A host as known_hosts names it: `gpu8`, and `[gpu8]:2222` where the port is not 22. */
export function knownHostsName(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

/** A line to remember a key by, as OpenSSH would write it without hashing. */
export function knownHostsLine(name: string, key: Buffer): string {
  return `${name} ${keyTypeOf(key) ?? "unknown"} ${key.toString("base64")}`;
}

/** The fingerprint as OpenSSH prints it. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** Whether the first field of a line speaks of `name`. A negated pattern that matches rules the whole line out. */
export function hostsMatch(hosts: string, name: string): boolean {
  if (hosts.startsWith("|")) return hashMatches(hosts, name);
  let matched = false;
  for (const pattern of hosts.toLowerCase().split(",")) {
    const negated = pattern.startsWith("!");
    if (!wildcardMatches(negated ? pattern.slice(1) : pattern, name)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

/** `|1|salt|hash`: HMAC-SHA1 of the name under the salt, as `HashKnownHosts` writes it. */
function hashMatches(hosts: string, name: string): boolean {
  const [, version, salt, hash] = hosts.split("|");
  if (version !== "1" || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, "base64");
  const actual = createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** `*` and `?` as OpenSSH has them. Walks both texts once, so that a hostile pattern cannot make it slow. */
function wildcardMatches(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let resume = 0;
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p++;
      resume = n;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === name[n])) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/**
 * Judges a key as OpenSSH does: a revoked key is refused wherever else it is listed; a key that is listed is good;
 * a host with other keys only, of whatever type, has changed.
 */
export function judgeHostKey(known: KnownHosts, name: string, key: Buffer): HostKeyVerdict {
  const entries = known.entries.filter((entry) => hostsMatch(entry.hosts, name));
  const revoked = entries.find((entry) => entry.revoked && entry.key.equals(key));
  if (revoked !== undefined) return { kind: "revoked", entry: revoked };
  const good = entries.filter((entry) => !entry.revoked);
  const match = good.find((entry) => entry.key.equals(key));
  if (match !== undefined) return { kind: "match", entry: match };
  const same = good.find((entry) => entry.keyType === keyTypeOf(key)) ?? good[0];
  return same === undefined ? { kind: "unknown" } : { kind: "changed", entry: same };
}

/** Signature algorithms by the type of the key that makes them; SHA-1 is left out as OpenSSH leaves it out. */
const algorithmsOf: ReadonlyMap<string, readonly HostKeyAlgorithm[]> = new Map([
  ["ssh-ed25519", ["ssh-ed25519"]],
  ["ecdsa-sha2-nistp256", ["ecdsa-sha2-nistp256"]],
  ["ecdsa-sha2-nistp384", ["ecdsa-sha2-nistp384"]],
  ["ecdsa-sha2-nistp521", ["ecdsa-sha2-nistp521"]],
  ["ssh-rsa", ["rsa-sha2-512", "rsa-sha2-256"]],
]);

/** A signature algorithm for host keys that the connection offers. */
export type HostKeyAlgorithm =
  | "ssh-ed25519"
  | "ecdsa-sha2-nistp256"
  | "ecdsa-sha2-nistp384"
  | "ecdsa-sha2-nistp521"
  | "rsa-sha2-512"
  | "rsa-sha2-256";

/** What to offer to the host: types that are known for `name` first, so that it shows a key that can be checked. */
export function hostKeyAlgorithms(known: KnownHosts, name: string): HostKeyAlgorithm[] {
  const types = new Set(
    known.entries.filter((entry) => !entry.revoked && hostsMatch(entry.hosts, name)).map((entry) => entry.keyType),
  );
  const all = [...algorithmsOf];
  return [...all.filter(([type]) => types.has(type)), ...all.filter(([type]) => !types.has(type))].flatMap(
    ([, algorithms]) => algorithms,
  );
}
