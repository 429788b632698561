import { readFile } from "node:fs/promises";
import { ConnectError } from "../core/errors";
import { fingerprintOf } from "./knownHosts";
import type { SystemLog } from "./systemLog";

/** What a failed `ssh` is judged by. */
export interface SystemFailure {
  readonly log: SystemLog;
  readonly label: string;
  readonly user: string;
  /** Whether a person could be asked. */
  readonly interactive: boolean;
  /** Whether a person was asked about the host's key. */
  readonly keyAsked: boolean;
}

/** The same ConnectErrors as over ssh2, from the words of a `ssh` that ended before it was logged in. */
export async function failureOfSsh(failure: SystemFailure): Promise<ConnectError> {
  const text = failure.log.words.map(readable).join("\n");
  return (await hostKeyFailure(text, failure)) ?? loginFailure(text, failure) ?? otherFailure(text, failure);
}

async function hostKeyFailure(text: string, failure: SystemFailure): Promise<ConnectError | undefined> {
  if (text.includes("REMOTE HOST IDENTIFICATION HAS CHANGED")) return changedKey(text, failure.label);
  if (/REVOKED HOST KEY|is marked as revoked|Host key .* revoked/i.test(text)) {
    return new ConnectError(
      "host-key-revoked",
      `The key of ${failure.label} is marked as revoked. It must not be trusted.`,
    );
  }
  return /Host key verification failed|host key is known for/.test(text) ? unknownKey(text, failure) : undefined;
}

async function changedKey(text: string, label: string): Promise<ConnectError> {
  const [, type = "?", file = "", line = ""] = /^Offending (\S+) key in (.+):(\d+)$/m.exec(text) ?? [];
  const [, newType = "?", now = "?"] =
    /fingerprint for the (\S+) key sent by the remote host is\s+(\S+?)\.?$/m.exec(text) ?? [];
  const lines = [
    `The key of ${label} or of a host on the way has changed. Somebody may be listening in, or the host was set up anew.`,
    `Known: ${type} ${await fingerprintAt(file, Number(line))} (${file}:${line})`,
    `Shown now: ${newType} ${now}`,
  ];
  const remedy = /^\s*(ssh-keygen -f .*)$/m.exec(text)?.[1];
  if (remedy !== undefined)
    lines.push(`If its administrator confirms the new key: Remove the old key with:  ${remedy}`);
  return new ConnectError("host-key-changed", lines.join("\n"));
}

function unknownKey(text: string, { label, keyAsked, interactive }: SystemFailure): ConnectError {
  if (keyAsked && interactive) {
    return new ConnectError("host-key-refused", `The key of ${label} was not accepted.`);
  }
  const strict = text.includes("you have requested strict checking");
  const why = strict ? "is in none of your known_hosts files" : "is not known yet";
  const way = strict && interactive ? "StrictHostKeyChecking is yes." : "Connect by hand to compare and accept it.";
  return new ConnectError("host-key-unknown", `The key of ${label} or of a host on the way ${why}. ${way}`);
}

/** `user@host: Permission denied (publickey,password).` */
function loginFailure(text: string, failure: SystemFailure): ConnectError | undefined {
  const { log, label, user, interactive } = failure;
  const denied = /Permission denied \(([^)\n]*)\)/.exec(text)?.[1];
  const tooMany = /Too many authentication failures/i.test(text);
  if (denied === undefined && !tooMany) return undefined;
  const methods = denied?.split(",") ?? log.methods;
  const wanted = interactive || tooMany ? undefined : personWanted(methods, log);
  if (wanted !== undefined) {
    return new ConnectError("needs-login", `${label} needs somebody to log in: ${wanted}.`);
  }
  const tried = log.offered.length === 0 ? "no key was there to offer" : `offered were ${log.offered.join(", ")}`;
  const lines = [`${label} refused the login as ${user}.`, `It takes ${methods.join(", ")}; ${tried}.`];
  const loose = /^Permissions \d+ for '(.*)' are too open/m.exec(text)?.[1];
  if (loose !== undefined) lines.push(`${loose} may be read by others, so ssh does not use it (chmod 600).`);
  if (tooMany) {
    lines.push(
      "Name the right key with IdentityFile and set IdentitiesOnly yes for this host in your SSH configuration.",
    );
  }
  return new ConnectError("login-refused", lines.join("\n"));
}

/** What somebody could answer, had anybody been asked. */
function personWanted(methods: readonly string[], log: SystemLog): string | undefined {
  const asks = methods.filter((method) => method === "password" || method === "keyboard-interactive");
  if (asks.length > 0) return `it takes ${asks.join(", ")}`;
  return log.keyAccepted ? "its key could not be used unasked (a passphrase?)" : undefined;
}

function otherFailure(text: string, { label }: SystemFailure): ConnectError {
  const said = text.split("\n").filter((line) => line !== "" && !line.startsWith("Connection closed by UNKNOWN"));
  const last = said.at(-1) ?? "ssh ended without a word";
  if (/Unable to negotiate|no matching .* found/.test(text)) {
    return new ConnectError("unsupported", `${label} and the system's ssh have no algorithm in common: ${last}`);
  }
  if (/Bad configuration option|Bad owner or permissions|terminating, \d+ bad|keyword .* extra arguments/i.test(text)) {
    return new ConnectError("unsupported", `The system's ssh refuses its configuration for ${label}: ${last}`);
  }
  return new ConnectError("unreachable", `${label} cannot be reached: ${last}.`.replace(/\.\.$/, "."));
}

async function fingerprintAt(file: string, line: number): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  const encoded = /(?:^|\s)(AAAA[A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(text.split("\n")[line - 1] ?? "")?.[1];
  return encoded === undefined ? "a key" : fingerprintOf(Buffer.from(encoded, "base64"));
}

/** What ssh prints may hold a server's banner. */
function readable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trimEnd();
}
