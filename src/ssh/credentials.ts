import type { AnyAuthMethod, KeyboardInteractiveAuthMethod, ParsedKey, Prompt } from "ssh2";
import { ConnectError } from "../core/errors";
import { SystemSshNeeded } from "./handover";
import { loginKeys, type LockedKey, type LoginKey, type LoginKeys } from "./keys";
import type { Asker } from "./prompts";
import type { ResolvedHost } from "./sshConfig";

/** What the host answered to an attempt: the methods it would still take, and whether the attempt was one step of it. */
export interface ServerAnswer {
  readonly methods: readonly string[];
  readonly partial: boolean;
}

const maxPassphraseTries = 3;

/**
 * Offers credentials in the order none → publickey → keyboard-interactive → password. Each is offered once: servers
 * count refusals and shut out whoever makes many (MaxAuthTries, PerSourcePenalties). What a person typed and the host
 * refused is the end.
 */
export class Credentials {
  /** Called when a person cancels, or the asking itself fails, while the host waits for an answer. */
  onCancelled: (error: unknown) => void = () => undefined;
  readonly #host: ResolvedHost;
  readonly #asker: Asker;
  readonly #label: string;
  readonly #hasTicket: () => Promise<boolean>;
  readonly #tried: string[] = [];
  readonly #notes: string[] = [];
  #offered: readonly string[] = [];
  /** What would have been asked, had there been anybody to ask. */
  #unasked: string | undefined;
  #personAnswered = false;

  /** @param hasTicket whether there is a Kerberos ticket that OpenSSH could show */
  constructor(host: ResolvedHost, asker: Asker, label: string, hasTicket: () => Promise<boolean>) {
    this.#host = host;
    this.#asker = asker;
    this.#label = label;
    this.#hasTicket = hasTicket;
  }

  /** Yields one attempt after the other and is told what came of it; returns why there are no more. */
  async *attempts(): AsyncGenerator<AnyAuthMethod, ConnectError | SystemSshNeeded, ServerAnswer> {
    const username = this.#host.user;
    let answer = this.#note(yield { type: "none", username });
    const beyond = await this.#methodBeyond(answer.methods);
    if (beyond !== undefined) return new SystemSshNeeded(`the host takes ${beyond}`);
    if (answer.methods.includes("publickey")) {
      const keys = await loginKeys(this.#host, this.#asker);
      this.#notes.push(...keys.notes);
      for await (const key of this.#usable(keys)) {
        if (!answer.methods.includes("publickey")) break;
        this.#tried.push(key.label);
        answer = this.#note(yield attemptWith(key, username));
      }
      if (mayTakeAnother(answer) && keys.beyond[0] !== undefined) {
        return new SystemSshNeeded(`${keys.beyond[0]} is to be touched`, true);
      }
    }
    if (answer.methods.includes("keyboard-interactive") && this.#mayAsk("the host asks questions")) {
      answer = this.#note(yield { type: "keyboard-interactive", username, prompt: this.#prompt });
      if (this.#personAnswered && !answer.partial) return this.refusal();
    }
    if (answer.methods.includes("password") && this.#mayAsk("a password")) {
      const password = await this.#ask("Password", `Password of ${username}`, true);
      if (password === undefined) return this.#cancelled();
      this.#note(yield { type: "password", username, password });
    }
    return this.refusal();
  }

  /** Why the login failed, with what the host takes and what was offered. */
  refusal(detail?: string): ConnectError {
    if (this.#unasked !== undefined && !this.#personAnswered) {
      return new ConnectError("needs-login", `${this.#label} needs somebody to log in: ${this.#unasked}.`);
    }
    const tried = this.#tried.length === 0 ? "no key was there to offer" : `offered were ${this.#tried.join(", ")}`;
    const lines = [
      `${this.#label} refused the login as ${this.#host.user}${detail === undefined ? "" : ` (${detail})`}.`,
      `It takes ${this.#offered.join(", ") || "nothing more"}; ${tried}.`,
      ...this.#notes,
    ];
    if (detail !== undefined && /too many authentication/i.test(detail)) {
      lines.push(
        "Name the right key with IdentityFile and set IdentitiesOnly yes for this host in your SSH configuration.",
      );
    }
    return new ConnectError("login-refused", lines.join("\n"));
  }

  /** OpenSSH offers these before any key. */
  async #methodBeyond(methods: readonly string[]): Promise<string | undefined> {
    const { gssapi, hostBased } = this.#host.beyond;
    if (methods.includes("gssapi-with-mic") && gssapi && (await this.#hasTicket())) return "Kerberos tickets (GSSAPI)";
    return methods.includes("hostbased") && hostBased ? "this machine's own key (hostbased)" : undefined;
  }

  #note(answer: ServerAnswer): ServerAnswer {
    this.#offered = answer.methods;
    return answer;
  }

  #mayAsk(what: string): boolean {
    if (!this.#asker.interactive) this.#unasked ??= what;
    return this.#asker.interactive;
  }

  #cancelled(): ConnectError {
    return new ConnectError("needs-login", `The login to ${this.#label} was cancelled.`);
  }

  async *#usable(keys: LoginKeys): AsyncGenerator<LoginKey> {
    yield* keys.ready;
    for (const locked of keys.locked) {
      if (!this.#mayAsk(`the key ${locked.label} has a passphrase`)) continue;
      const parsed = await this.#unlock(locked);
      if (parsed !== undefined) yield { label: locked.label, parsed };
    }
  }

  /** A wrong passphrase never reaches the host, so it may be typed again. Cancelling passes this key over. */
  async #unlock(locked: LockedKey): Promise<ParsedKey | undefined> {
    for (let tries = 0; tries < maxPassphraseTries; tries++) {
      const again = tries === 0 ? "" : " (that was not it)";
      const passphrase = await this.#ask("Passphrase", `Passphrase of ${locked.label}${again}`, true);
      if (passphrase === undefined) break;
      const parsed = locked.unlock(passphrase);
      if (parsed !== undefined) return parsed;
    }
    this.#notes.push(`${locked.label}: not unlocked`);
    return undefined;
  }

  /** ssh2 gives the name, the instructions, their language, the prompts and the function that takes the answers. */
  readonly #prompt: KeyboardInteractiveAuthMethod["prompt"] = (...asked) => {
    const [name, instructions, , prompts, finish] = asked;
    const heading = [name, instructions].filter((text) => text.trim() !== "").join(" · ");
    void this.#answer(heading, prompts).then((answers) => {
      if (answers === undefined) this.onCancelled(this.#cancelled());
      else finish(answers);
    }, this.onCancelled);
  };

  /** One question at a time, in the host's order and words. */
  async #answer(heading: string, prompts: readonly Prompt[]): Promise<string[] | undefined> {
    const answers: string[] = [];
    for (const { prompt, echo } of prompts) {
      const answer = await this.#ask(heading === "" ? "Login" : heading, prompt, echo !== true);
      if (answer === undefined) return undefined;
      answers.push(answer);
    }
    return answers;
  }

  async #ask(title: string, prompt: string, secret: boolean): Promise<string | undefined> {
    const answer = await this.#asker.ask({ title: `${this.#label}: ${plain(title)}`, prompt: plain(prompt), secret });
    if (answer !== undefined) this.#personAnswered = true;
    return answer;
  }
}

function mayTakeAnother({ methods, partial }: ServerAnswer): boolean {
  return methods.includes("publickey") && !partial;
}

function attemptWith(key: LoginKey, username: string): AnyAuthMethod {
  return key.agent === undefined
    ? { type: "publickey", username, key: key.parsed }
    : { type: "agent", username, agent: key.agent };
}

/** Text of a host that is not yet logged in to: no control characters, and not endless. */
function plain(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 500);
}
