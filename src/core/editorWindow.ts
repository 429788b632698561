/** What an extension can know of the window it runs in. */
export interface EditorWindow {
  /** Where the extension runs: `ui`, on the machine one sits at; `workspace`, where the folder is. */
  readonly kind: "ui" | "workspace" | "web";
  /** As VS Code says: `ssh-remote`, `wsl`, `dev-container`, `attached-container`, `codespaces`, `tunnel`; absent: a local window. */
  readonly remoteName?: string;
  /** Of the folder's URI: `ssh-remote+gpu8`. */
  readonly authority?: string;
  /** Of the machine that the extension runs on. */
  readonly platform: string;
}

/** Which host the window itself is about, and what `local` means in it. */
export interface WindowHosts {
  /** What is offered first, as a session file would have it under `ssh`; absent: nothing is. */
  readonly own?: string;
  /** Whether `local` is the machine that the folder is on and can be watched: Linux alone has what it takes. */
  readonly local: boolean;
}

/**
 * In a window to a machine by SSH the first choice is that machine, over a connection of ours, since keys and agent are
 * where one sits. Where the extension runs beside the folder, it is `local`. All else has no host of its own.
 */
export function windowHosts({ kind, remoteName, authority, platform }: EditorWindow): WindowHosts {
  if (kind === "web") return { local: false };
  const beside = remoteName === undefined || kind === "workspace";
  const local = beside && platform === "linux";
  if (kind === "workspace" && remoteName !== undefined) return local ? { own: "local", local } : { local };
  const own = remoteName === "ssh-remote" ? sshHostOf(authority ?? "") : undefined;
  return own === undefined ? { local } : { own, local };
}

/**
 * The host of an authority of Remote-SSH: `ssh-remote+gpu8`, `ssh-remote+me@gpu8:2222`, or, for names with capitals and
 * such, the JSON `{"hostName":"GPU8","user":…,"port":…}` as hexadecimal digits. `undefined`: not one that can be named.
 */
function sshHostOf(authority: string): string | undefined {
  const name = /^ssh-remote\+(.+)$/.exec(authority)?.[1];
  if (name === undefined) return undefined;
  const text = /^7b(?:[0-9a-f]{2})+$/i.test(name) ? fromJson(name) : decoded(name);
  // What a session file takes, and no option of ssh.
  return text !== undefined && /^[\w.][\w.@:[\]+-]{0,250}$/.test(text) ? text : undefined;
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

function fromJson(digits: string): string | undefined {
  try {
    const text = digits.replaceAll(/../g, (pair) => `%${pair}`);
    const said: unknown = JSON.parse(decodeURIComponent(text));
    if (typeof said !== "object" || said === null || !("hostName" in said)) return undefined;
    const user = "user" in said && typeof said.user === "string" ? `${said.user}@` : "";
    const port = "port" in said && typeof said.port === "number" ? `:${said.port}` : "";
    return typeof said.hostName === "string" ? `${user}${said.hostName}${port}` : undefined;
  } catch {
    return undefined;
  }
}
