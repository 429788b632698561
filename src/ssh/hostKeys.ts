import { readFile } from "node:fs/promises";
import { ConnectError } from "../core/errors";
import type { TrustedKeys } from "../core/trust";
import {
  fingerprintOf,
  hostKeyAlgorithms,
  judgeHostKey,
  keyTypeOf,
  knownHostsLine,
  knownHostsName,
  parseKnownHosts,
  type HostKeyAlgorithm,
  type HostKeyVerdict,
  type KnownHosts,
  type KnownHostsEntry,
} from "./knownHosts";
import type { Asker } from "./prompts";
import type { ResolvedHost } from "./sshConfig";

const ownStore = "the keys ML Session Monitor remembers";

/** Decides whether a host is the one it says it is, before any credential is sent to it. */
export interface HostKeyCheck {
  /** As known_hosts names the host, and what the files say of all hosts. */
  readonly name: string;
  readonly known: KnownHosts;
  /** What to offer, so that the host shows a key that can be checked. */
  readonly algorithms: HostKeyAlgorithm[];
  /**
   * Whether this very key was accepted on this connection before. Told at once: when session keys are renewed, ssh2
   * sends on with a half-made packet if its question is answered after the host's next message (kex.js, `finish`
   * called with `scOnly` forgets that a key exchange is under way).
   */
  accepts(key: Buffer): boolean;
  /**
   * Asked in the first handshake.
   * @throws ConnectError `host-key-unknown`, `host-key-refused`, `host-key-changed`, `host-key-revoked`
   */
  verify(key: Buffer): Promise<void>;
}

/** Reads the user's, the system's and the product's own known hosts for one connection. */
export async function hostKeyCheck(host: ResolvedHost, trustedKeys: TrustedKeys, asker: Asker): Promise<HostKeyCheck> {
  const files = [...host.userKnownHosts, ...host.globalKnownHosts];
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await readFile(file, "utf8").catch(() => "") })),
  );
  const known = parseKnownHosts([...texts, { file: ownStore, text: trustedKeys.lines().join("\n") }]);
  const name = host.hostKeyAlias?.toLowerCase() ?? knownHostsName(host.hostname, host.port);
  let accepted: Buffer | undefined;
  return {
    name,
    known,
    algorithms: hostKeyAlgorithms(known, name),
    accepts: (key) => accepted?.equals(key) === true,
    verify: async (key) => {
      const verdict = judge(known, name, host, key);
      if (verdict.kind === "revoked") throw revoked(name, key, verdict.entry);
      if (verdict.kind === "changed") throw changed(name, key, verdict.entry, trustedKeys);
      if (verdict.kind === "unknown") {
        await admit(name, key, host, asker);
        await trustedKeys.remember(knownHostsLine(name, key));
      }
      accepted = key;
    },
  };
}

/** As OpenSSH: a host on another port is also known by a matching key of the bare name, but never refused for it. */
function judge(known: KnownHosts, name: string, host: ResolvedHost, key: Buffer): HostKeyVerdict {
  const verdict = judgeHostKey(known, name, key);
  if (verdict.kind !== "unknown" || host.hostKeyAlias !== undefined || host.port === 22) return verdict;
  const bare = judgeHostKey(known, host.hostname.toLowerCase(), key);
  return bare.kind === "changed" ? verdict : bare;
}

/** Returns only when the unknown key may be trusted from now on. */
async function admit(name: string, key: Buffer, host: ResolvedHost, asker: Asker): Promise<void> {
  if (host.strictHostKeyChecking === "accept-new" || host.strictHostKeyChecking === "no") return;
  const shown = `${keyTypeOf(key) ?? "?"} ${fingerprintOf(key)}`;
  if (host.strictHostKeyChecking === "yes") {
    throw new ConnectError(
      "host-key-unknown",
      `The key of ${name} (${shown}) is in none of your known_hosts files, and StrictHostKeyChecking is yes.`,
    );
  }
  if (!asker.interactive) {
    throw new ConnectError(
      "host-key-unknown",
      `Nobody has vouched for the key of ${name} yet (${shown}). Connect by hand to compare and accept it.`,
    );
  }
  const question = { host: name, keyType: keyTypeOf(key) ?? "?", fingerprint: fingerprintOf(key) };
  if (!(await asker.confirmHostKey(question))) {
    throw new ConnectError("host-key-refused", `The key of ${name} (${shown}) was not accepted.`);
  }
}

function changed(name: string, key: Buffer, entry: KnownHostsEntry, trustedKeys: TrustedKeys): ConnectError {
  const removal =
    entry.file === ownStore
      ? (trustedKeys.removal ?? "Remove it there.")
      : `Remove the old key with:  ssh-keygen -f ${quoted(entry.file)} -R ${quoted(name)}`;
  return new ConnectError(
    "host-key-changed",
    [
      `The key of ${name} has changed. Somebody may be listening in, or the host was set up anew.`,
      `Known: ${entry.keyType} ${fingerprintOf(entry.key)} (${entry.file}:${entry.line})`,
      `Shown now: ${keyTypeOf(key) ?? "?"} ${fingerprintOf(key)}`,
      `If its administrator confirms the new key: ${removal}`,
    ].join("\n"),
  );
}

function revoked(name: string, key: Buffer, entry: KnownHostsEntry): ConnectError {
  return new ConnectError(
    "host-key-revoked",
    `The key of ${name} (${entry.keyType} ${fingerprintOf(key)}) is marked as revoked in ${entry.file}:${entry.line}. ` +
      "It must not be trusted.",
  );
}

/** For a shell, since the command is there to be copied. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
