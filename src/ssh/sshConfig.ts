import { execFile } from "node:child_process";
import { join } from "node:path";
import { ConnectError, messageOf } from "../core/errors";
import { readConfigFile } from "./configFile";

/** Where configuration is read from, and for whom. */
export interface ConfigContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The local user, who is the remote one where nothing else is said. */
  readonly user: string;
  /** Instead of the user's and the system's files; as `ssh -F`. */
  readonly sshConfigFile?: string;
  /** Where this runs; absent: here. Windows has another default for the agent. */
  readonly platform?: NodeJS.Platform;
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
  /** A socket of OpenSSH's ControlMaster, which may or may not be there. */
  readonly controlPath: string | undefined;
  /** ServerAliveInterval; 0: none. */
  readonly keepaliveSeconds: number;
  readonly beyond: BeyondSsh2;
  /** What a call of `ssh` must set so that its own streams are the command's: settings of the user's that say otherwise. */
  readonly overrides: readonly string[];
}

/** What the configuration asks for that only OpenSSH can do. */
export interface BeyondSsh2 {
  readonly certificateFiles: readonly string[];
  /** GSSAPIAuthentication; many distributions switch it on for everybody, so that alone it says little. */
  readonly gssapi: boolean;
  readonly hostBased: boolean;
  /** PKCS11Provider: keys of a smart card. */
  readonly smartCard: boolean;
  /** ProxyUseFdpass: the ProxyCommand hands over a socket. */
  readonly passedSocket: boolean;
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

/** What tells `ssh` which host is meant, without the host itself. */
export function hostArguments(request: HostRequest, context: Pick<ConfigContext, "sshConfigFile">): string[] {
  const file = context.sshConfigFile === undefined ? [] : ["-F", context.sshConfigFile];
  const port = request.port === undefined ? [] : ["-p", String(request.port)];
  const user = request.user === undefined ? [] : ["-l", request.user];
  return [...file, ...port, ...user];
}

/** `undefined` where there is no ssh on this machine. */
function askSsh(request: HostRequest, context: ConfigContext): Promise<Settings | undefined> {
  const args = [...hostArguments(request, context), "-G", "--", request.host];
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

/** The fallback without `ssh`: the user's file and what it includes; nothing is executed. */
async function readConfig(request: HostRequest, context: ConfigContext): Promise<Settings> {
  const file = context.sshConfigFile ?? join(context.home, ".ssh", "config");
  try {
    return await readConfigFile(file, request.host, context.home);
  } catch (error) {
    throw refusedConfig(request.host, messageOf(error));
  }
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
    fileList(one(key) ?? fallback)
      .filter((file) => file !== "none" && file !== "/dev/null")
      .map(path);
  const yes = (key: string): boolean => one(key)?.toLowerCase() === "yes";
  const proxyCommand = absentIfNone(one("proxycommand"));
  return {
    alias: request.host,
    hostname,
    port,
    user,
    identityFiles: (settings.get("identityfile") ?? defaultKeys.map((key) => `~/.ssh/${key}`))
      .filter((file) => file !== "none")
      .map(path),
    identitiesOnly: yes("identitiesonly"),
    identityAgent: agentSocket(one("identityagent"), context, path),
    userKnownHosts: files("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2"),
    globalKnownHosts: files("globalknownhostsfile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"),
    strictHostKeyChecking: strictness(one("stricthostkeychecking")),
    hostKeyAlias: absentIfNone(one("hostkeyalias")),
    proxyJump: absentIfNone(one("proxyjump")),
    proxyCommand: proxyCommand === undefined ? undefined : expandTokens(proxyCommand, tokens),
    controlPath: absentIfNone(one("controlpath")),
    beyond: {
      certificateFiles: (settings.get("certificatefile") ?? []).filter((file) => file !== "none").map(path),
      gssapi: yes("gssapiauthentication"),
      hostBased: yes("hostbasedauthentication"),
      smartCard: absentIfNone(one("pkcs11provider")) !== undefined,
      passedSocket: yes("proxyusefdpass"),
    },
    keepaliveSeconds: Number(one("serveraliveinterval") ?? 0) || 0,
    overrides: overridesOf(one),
  };
}

function overridesOf(one: (key: string) => string | undefined): readonly string[] {
  return [
    ...(one("stdinnull") === "yes" ? ["StdinNull=no"] : []),
    ...(one("forkafterauthentication") === "yes" ? ["ForkAfterAuthentication=no"] : []),
    ...((one("sessiontype") ?? "default") === "default" ? [] : ["SessionType=default"]),
  ];
}

/**
 * Several files in one value. `ssh -G` prints names with blanks without quotes (`C:\Users\First Last/.ssh/known_hosts`),
 * so a name ends where the next one begins as absolute names do.
 */
function fileList(text: string): string[] {
  const quoted = /^"[^"]*"$|"[^"]*"(?=\s|$)|\S+/g;
  if (text.includes('"')) return (text.match(quoted) ?? []).map((file) => file.replace(/^"(.*)"$/, "$1"));
  return text
    .split(/\s+(?=[/~]|[A-Za-z]:[\\/]|%d|\$\{|none(?:\s|$))/)
    .flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
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

/** The agent of OpenSSH for Windows, which sets no SSH_AUTH_SOCK. */
const windowsAgent = "\\\\.\\pipe\\openssh-ssh-agent";

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
    if (socket !== undefined && socket !== "") return socket;
    return setting === undefined && (context.platform ?? process.platform) === "win32" ? windowsAgent : undefined;
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
