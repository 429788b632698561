import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import SSHConfig from "ssh-config";
import { ConnectError, messageOf } from "../core/errors";

/** Where configuration is read from, and for whom. */
export interface ConfigContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The local user, who is the remote one where nothing else is said. */
  readonly user: string;
  /** Instead of the user's and the system's files; as `ssh -F`. */
  readonly sshConfigFile?: string;
}

/** What was asked for: an alias or host name, with what overrides the configuration. */
export interface HostRequest {
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
}

/** A host as the user's SSH configuration has it. Paths are absolute, tokens are filled in. */
export interface ResolvedHost {
  /** What was asked for; names the host in messages. */
  readonly alias: string;
  readonly hostname: string;
  readonly port: number;
  readonly user: string;
  readonly identityFiles: readonly string[];
  readonly identitiesOnly: boolean;
  /** A socket; `undefined` where none is to be used. */
  readonly identityAgent: string | undefined;
  readonly userKnownHosts: readonly string[];
  readonly globalKnownHosts: readonly string[];
  readonly strictHostKeyChecking: "yes" | "ask" | "accept-new" | "no";
  readonly hostKeyAlias: string | undefined;
  /** Comma list of hops, the first one to be reached first. */
  readonly proxyJump: string | undefined;
  readonly proxyCommand: string | undefined;
}

/**
 * No leading dash, since ssh would read an option, and nothing that means something to a shell, since names end up in
 * `ProxyCommand`. OpenSSH draws the same line (9.6: "ban user/hostnames with most shell metacharacters").
 */
const hostPattern = /^[\p{L}\p{N}_.:[][\p{L}\p{N}_.:%~+@[\]-]*$/u;
const userPattern = /^[\p{L}\p{N}_.][\p{L}\p{N}_.@+~\\-]*$/u;

function badName(what: string, name: string): ConnectError {
  return new ConnectError("unsupported", `“${name}” cannot be the name of ${what}.`);
}

type Settings = ReadonlyMap<string, readonly string[]>;

/**
 * Asks `ssh -G`, which knows Include, Match and canonical names exactly; without an `ssh` it reads the file itself.
 * Configuration may run programs (`Match exec`), so the caller must have asked for trust before.
 * @throws ConnectError `unsupported` for names that ssh could take for options, and for configuration it refuses.
 */
export async function resolveHost(request: HostRequest, context: ConfigContext): Promise<ResolvedHost> {
  if (!hostPattern.test(request.host)) throw badName("a host", request.host);
  if (request.user !== undefined && !userPattern.test(request.user)) throw badName("a user", request.user);
  const settings = (await askSsh(request, context)) ?? (await readConfig(request, context));
  return resolvedFrom(settings, request, context);
}

/** `undefined` where there is no ssh on this machine. */
function askSsh(request: HostRequest, context: ConfigContext): Promise<Settings | undefined> {
  const file = context.sshConfigFile === undefined ? [] : ["-F", context.sshConfigFile];
  const port = request.port === undefined ? [] : ["-p", String(request.port)];
  const user = request.user === undefined ? [] : ["-l", request.user];
  const args = [...file, ...port, ...user, "-G", "--", request.host];
  return new Promise((resolve, reject) => {
    execFile("ssh", args, { env: { ...context.env }, timeout: 10_000, maxBuffer: 1 << 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(settingsOf(stdout));
      else if (error.code === "ENOENT") resolve(undefined);
      else reject(refusedConfig(request.host, stderr.trim() || error.message));
    });
  });
}

function refusedConfig(host: string, detail: string): ConnectError {
  return new ConnectError("unsupported", `The SSH configuration for ${host} cannot be used: ${detail}`);
}

/** Lines of `key value`, keys in lower case, repeated keys kept in order. */
function settingsOf(output: string): Settings {
  const settings = new Map<string, string[]>();
  for (const line of output.split(/\r?\n/)) {
    const space = line.indexOf(" ");
    if (space < 0) continue;
    const key = line.slice(0, space).toLowerCase();
    const values = settings.get(key);
    if (values === undefined) settings.set(key, [line.slice(space + 1).trim()]);
    else values.push(line.slice(space + 1).trim());
  }
  return settings;
}

/** The fallback without `ssh`: the user's file only, no Include, and nothing is executed. */
async function readConfig(request: HostRequest, context: ConfigContext): Promise<Settings> {
  const file = context.sshConfigFile ?? join(context.home, ".ssh", "config");
  const text = await readFile(file, "utf8").catch(() => "");
  const settings = new Map<string, string[]>();
  try {
    const found = SSHConfig.parse(text).compute(request.host, { ignoreCase: true, matchExec: false });
    for (const [key, value] of Object.entries(found)) {
      settings.set(key.toLowerCase(), typeof value === "string" ? [value] : [...value]);
    }
  } catch (error) {
    throw refusedConfig(request.host, messageOf(error));
  }
  // The package leaves these as the file has them: lists in one value, tokens in HostName.
  for (const key of ["userknownhostsfile", "globalknownhostsfile"]) {
    const values = settings.get(key);
    if (values !== undefined) settings.set(key, [values.join(" ")]);
  }
  const hostname = settings.get("hostname")?.[0];
  if (hostname !== undefined) settings.set("hostname", [hostname.replaceAll("%h", request.host)]);
  return settings;
}

const defaultKeys = ["id_rsa", "id_ecdsa", "id_ed25519"];

function resolvedFrom(settings: Settings, request: HostRequest, context: ConfigContext): ResolvedHost {
  const one = (key: string): string | undefined => settings.get(key)?.[0];
  const hostname = one("hostname") ?? request.host;
  const port = request.port ?? Number(one("port") ?? 22);
  const user = request.user ?? one("user") ?? context.user;
  const tokens: Tokens = { home: context.home, localUser: context.user, alias: request.host, hostname, port, user };
  const path = (text: string): string => expandPath(text, tokens, context.env);
  const files = (key: string, fallback: string): string[] =>
    (one(key) ?? fallback)
      .split(/\s+/)
      .filter((file) => file !== "" && file !== "none" && file !== "/dev/null")
      .map(path);
  const proxyCommand = absentIfNone(one("proxycommand"));
  return {
    alias: request.host,
    hostname,
    port,
    user,
    identityFiles: (settings.get("identityfile") ?? defaultKeys.map((key) => `~/.ssh/${key}`))
      .filter((file) => file !== "none")
      .map(path),
    identitiesOnly: one("identitiesonly")?.toLowerCase() === "yes",
    identityAgent: agentSocket(one("identityagent"), context, path),
    userKnownHosts: files("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2"),
    globalKnownHosts: files("globalknownhostsfile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"),
    strictHostKeyChecking: strictness(one("stricthostkeychecking")),
    hostKeyAlias: absentIfNone(one("hostkeyalias")),
    proxyJump: absentIfNone(one("proxyjump")),
    proxyCommand: proxyCommand === undefined ? undefined : expandTokens(proxyCommand, tokens),
  };
}

function absentIfNone(text: string | undefined): string | undefined {
  return text === undefined || text.toLowerCase() === "none" ? undefined : text;
}

/** `ssh -G` prints `true` and `false` for yes and no; `off` is another word for `no`. */
function strictness(text: string | undefined): ResolvedHost["strictHostKeyChecking"] {
  switch (text?.toLowerCase()) {
    case "yes":
    case "true":
      return "yes";
    case "accept-new":
      return "accept-new";
    case "no":
    case "off":
    case "false":
      return "no";
    default:
      return "ask";
  }
}

/** ssh_config(5), IdentityAgent: a path, `none`, `SSH_AUTH_SOCK`, or `$NAME` of a variable that holds the path. */
function agentSocket(
  setting: string | undefined,
  context: ConfigContext,
  path: (text: string) => string,
): string | undefined {
  if (setting === "none") return undefined;
  const byName = /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(setting ?? "$SSH_AUTH_SOCK")?.[1];
  if (setting === "SSH_AUTH_SOCK" || byName !== undefined) {
    const socket = context.env[byName ?? "SSH_AUTH_SOCK"];
    return socket === "" ? undefined : socket;
  }
  return setting === undefined ? undefined : path(setting);
}

interface Tokens {
  readonly home: string;
  readonly localUser: string;
  readonly alias: string;
  readonly hostname: string;
  readonly port: number;
  readonly user: string;
}

/** ssh_config(5), TOKENS; those that ask for a hash of the connection or the local host are left as they are. */
function expandTokens(text: string, tokens: Tokens): string {
  const values: Readonly<Record<string, string>> = {
    "%": "%",
    d: tokens.home,
    h: tokens.hostname,
    k: tokens.alias,
    n: tokens.alias,
    p: String(tokens.port),
    r: tokens.user,
    u: tokens.localUser,
  };
  return text.replace(/%(.)/g, (whole, letter: string) => values[letter] ?? whole);
}

function expandPath(text: string, tokens: Tokens, env: ConfigContext["env"]): string {
  const bare = text
    .replace(/^"(.*)"$/, "$1")
    .replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => env[name] ?? "");
  const expanded = expandTokens(bare, tokens);
  return expanded === "~" || expanded.startsWith("~/") ? join(tokens.home, expanded.slice(1)) : expanded;
}
