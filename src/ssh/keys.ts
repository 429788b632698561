import { readFile } from "node:fs/promises";
import ssh2 from "ssh2";
import type { ParsedKey } from "ssh2";
import { messageOf } from "../core/errors";
import { agentKeyTypes } from "./agentKeyTypes";
import type { Asker } from "./prompts";
import type { ResolvedHost } from "./sshConfig";

/** A key that can sign. `sign` for keys of an agent, `parsed` alone for those of a file. */
export interface LoginKey {
  /** For messages: `agent: me@laptop`, `/home/me/.ssh/id_ed25519`. */
  readonly label: string;
  readonly parsed: ParsedKey;
  readonly agent?: ssh2.BaseAgent;
}

/** A private key file that needs a passphrase. */
export interface LockedKey {
  readonly label: string;
  unlock(passphrase: string): ParsedKey | undefined;
}

/** What there is to log in with, in the order in which it is offered. */
export interface LoginKeys {
  readonly ready: readonly LoginKey[];
  readonly locked: readonly LockedKey[];
  /** Security keys that would be offered next, were ssh2 able to. */
  readonly beyond: readonly string[];
  /** Keys that were passed over, each with the reason. */
  readonly notes: readonly string[];
}

/** Collects keys as OpenSSH does: those of the agent that the configuration names, the agent's others, then files. */
export async function loginKeys(host: ResolvedHost, asker: Asker): Promise<LoginKeys> {
  const notes: string[] = [];
  const socket = host.identityAgent;
  const files = (await Promise.all(host.identityFiles.map((path) => readKey(path, notes)))).filter(
    (f) => f !== undefined,
  );
  const inAgent = socket === undefined ? [] : await agentKeys(socket, asker, notes);
  const named = (key: LoginKey): boolean => files.some((file) => same(file.publicKey, key.parsed));
  const ready = inAgent.filter(named);
  if (!host.identitiesOnly) ready.push(...inAgent.filter((key) => !named(key)));
  const fromFiles = files.filter((file) => !inAgent.some((key) => same(file.publicKey, key.parsed)));
  for (const { path, privateKey } of fromFiles) {
    if (privateKey !== undefined) ready.push({ label: path, parsed: privateKey });
  }
  const beyond = files.filter((file) => file.securityKey === true).map((file) => file.path);
  if (socket !== undefined && !host.identitiesOnly && (await agentKeyTypes(socket)).some(isSecurityKey)) {
    beyond.push("the security key in the agent");
  }
  return { ready, locked: fromFiles.flatMap((file) => file.locked ?? []), beyond, notes };
}

/** FIDO keys: `sk-ssh-ed25519@openssh.com`, `sk-ecdsa-sha2-nistp256@openssh.com`. */
function isSecurityKey(type: string): boolean {
  return type.startsWith("sk-");
}

function same(a: ParsedKey | undefined, b: ParsedKey): boolean {
  return a?.getPublicSSH().equals(b.getPublicSSH()) === true;
}

interface KeyFile {
  readonly path: string;
  readonly publicKey?: ParsedKey;
  readonly privateKey?: ParsedKey;
  readonly locked?: LockedKey;
  readonly securityKey?: boolean;
}

async function readKey(path: string, notes: string[]): Promise<KeyFile | undefined> {
  const text = await readFile(path).catch(() => undefined);
  const publicText = await readFile(`${path}.pub`).catch(() => undefined);
  if (isSecurityKey(publicText?.toString("latin1") ?? "") || (text !== undefined && holdsSecurityKey(text))) {
    return { path, securityKey: true };
  }
  const beside = publicText === undefined ? undefined : parsed(publicText);
  const known = beside === undefined || beside instanceof Error ? { path } : { path, publicKey: beside };
  if (text === undefined) return "publicKey" in known ? known : undefined;
  return privatePart(known, text, notes);
}

function privatePart(known: KeyFile, text: Buffer, notes: string[]): KeyFile | undefined {
  const { path } = known;
  if (text.subarray(0, 20).toString("latin1") === "PuTTY-User-Key-File-") {
    notes.push(
      `${path}: a key of PuTTY; convert it with  puttygen KEY -O private-openssh -o NEW  and name the new one`,
    );
    return undefined;
  }
  const key = parsed(text);
  if (!(key instanceof Error)) return { path, publicKey: key, ...(key.isPrivateKey() ? { privateKey: key } : {}) };
  if (/passphrase/i.test(key.message)) return { ...known, locked: lockedKey(path, text) };
  notes.push(`${path}: ${key.message}`);
  return undefined;
}

function lockedKey(path: string, text: Buffer): LockedKey {
  return {
    label: path,
    unlock: (passphrase) => {
      const unlocked = parsed(text, passphrase);
      return unlocked instanceof Error ? undefined : unlocked;
    },
  };
}

/** OpenSSH's own format has the public key in clear, also where the private one is encrypted. */
function holdsSecurityKey(text: Buffer): boolean {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]*)/.exec(text.toString("latin1"))?.[1];
  return body !== undefined && /sk-(?:ssh|ecdsa)-/.test(Buffer.from(body, "base64").toString("latin1"));
}

function parsed(text: Buffer, passphrase?: string): ParsedKey | Error {
  const key: ParsedKey | Error | readonly ParsedKey[] = ssh2.utils.parseKey(text, passphrase);
  if (!Array.isArray(key)) return key;
  return (key as readonly ParsedKey[])[0] ?? new Error("no key in it");
}

async function agentKeys(socket: string, asker: Asker, notes: string[]): Promise<LoginKey[]> {
  if (socket.toLowerCase() === "pageant") {
    notes.push("Pageant is not supported; the agent service of OpenSSH for Windows is (ssh-add adds keys to it)");
    return [];
  }
  const agent = ssh2.createAgent(socket);
  try {
    const keys = await new Promise<readonly ParsedKey[]>((resolve, reject) => {
      agent.getIdentities((error, identities) => {
        if (error) reject(error);
        else resolve((identities ?? []).map(asParsed).filter((key) => key !== undefined));
      });
    });
    return keys.map((key) => ({
      label: `agent: ${key.comment === "" ? key.type : key.comment}`,
      parsed: key,
      agent: new OneKeyAgent(agent, key, asker),
    }));
  } catch (error) {
    notes.push(`the agent at ${socket} did not answer (${messageOf(error)})`);
    return [];
  }
}

function asParsed(key: ParsedKey | Buffer | string | ssh2.PublicKeyEntry): ParsedKey | undefined {
  // ssh2's agents answer with parsed keys; the other forms are for agents that somebody else wrote.
  if (typeof key === "object" && "pubKey" in key) return undefined;
  const result = ssh2.utils.parseKey(key);
  return result instanceof Error ? undefined : result;
}

/**
 * Offers one key of an agent. Given all keys, ssh2 would go on to the next one even after the host accepted one and
 * asks for a second factor, and servers count every try.
 */
class OneKeyAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #agent: ssh2.BaseAgent;
  readonly #key: ParsedKey;
  readonly #asker: Asker;

  constructor(agent: ssh2.BaseAgent, key: ParsedKey, asker: Asker) {
    super();
    this.#agent = agent;
    this.#key = key;
    this.#asker = asker;
  }

  override getIdentities(cb: ssh2.IdentityCallback<ParsedKey>): void {
    cb(undefined, [this.#key]);
  }

  override sign(key: ParsedKey, data: Buffer, ...rest: unknown[]): void {
    const done = rest.at(-1) as ssh2.SignCallback;
    const options = (rest.length > 1 ? rest[0] : {}) as ssh2.SigningRequestOptions;
    // An agent may ask its owner first; no clock of ours runs while it does.
    void this.#asker.during(
      new Promise<void>((resolve) => {
        this.#agent.sign(key, data, options, (error, signature) => {
          resolve();
          done(error, signature);
        });
      }),
    );
  }
}
