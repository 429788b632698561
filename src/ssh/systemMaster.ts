import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConnectError, messageOf } from "../core/errors";
import type { Clock } from "../core/ports";
import { Deadline } from "./deadline";
import type { PipedProcess } from "./processChannel";
import type { Asker } from "./prompts";
import { failureOfSsh } from "./systemErrors";
import { SystemLog } from "./systemLog";
import { goesToHost, isKeyQuestion, putQuestion, startAskpass, type SshQuestion } from "./systemPrompts";
import { aliveOptions, endGroup, sshArguments, startSsh, type SystemSsh } from "./systemSsh";

/** All that one login by the system's `ssh` needs. */
export interface MasterRequest {
  readonly ssh: SystemSsh;
  readonly label: string;
  /** The user's alone; for sockets. */
  readonly folder: string;
  readonly asker: Asker;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One `ssh` that is logged in and carries all commands of a connection (ControlMaster). */
export interface Master {
  readonly socket: string;
  readonly log: SystemLog;
  /** Resolves when it has ended, with the cause in plain words. */
  readonly ended: Promise<string>;
  end(): void;
}

/** For each line that ssh has to say; stands still while a person is thinking. */
const answerLimitMs = 20_000;
/** How long ssh may take to say the rest of what it has to say of a key. */
const lastWordsMs = 50;

/**
 * A program that ends when the other end of its standard input is gone: a master outlives an editor that was killed, and
 * would keep its connection for ever. The program's words are run as they are; nothing of them is read by the shell.
 */
export function endingWithUs(program: string): readonly string[] {
  const script = [
    'exec 3<&0; "$@" 3<&- </dev/null & m=$!',
    "trap 'kill \"$m\" 2>/dev/null' TERM HUP INT",
    '(while read -r x; do :; done <&3; kill "$m") >/dev/null 2>&1 & w=$!; exec 3<&-',
    'wait "$m"; s=$?; kill "$w" 2>/dev/null; exit "$s"',
  ];
  return ["/bin/sh", "-c", script.join("\n"), "sh", program];
}

/**
 * Logs in by the system's `ssh`, which decides about host keys and credentials as it always does for this user.
 * @throws ConnectError
 */
export async function openMaster(request: MasterRequest): Promise<Master> {
  const login = new Login(request);
  const askpass = await startAskpass(request.folder, (question) => login.answer(question));
  try {
    return await login.run(askpass.env);
  } finally {
    askpass.dispose();
  }
}

class Login {
  readonly #request: MasterRequest;
  readonly #log = new SystemLog();
  readonly #over = new AbortController();
  #fail: (error: unknown) => void = () => undefined;
  #keyAsked = false;
  #hostAnswered = false;

  constructor(request: MasterRequest) {
    this.#request = request;
  }

  async answer(question: SshQuestion): Promise<string | undefined> {
    const { asker, label } = this.#request;
    if (!asker.interactive) {
      this.#fail(new ConnectError("needs-login", `${label} needs somebody to log in: ssh asks something.`));
      return undefined;
    }
    if (question.hint === "none") return this.#touched();
    this.#keyAsked ||= isKeyQuestion(question);
    const answer = await putQuestion(question, asker, label);
    if (answer === undefined) this.#fail(new ConnectError("needs-login", `The login to ${label} was cancelled.`));
    else this.#hostAnswered ||= goesToHost(question);
    return answer;
  }

  run(env: Readonly<Record<string, string>>): Promise<Master> {
    const { ssh, clock, asker, signal, label, folder } = this.#request;
    const socket = join(folder, "shared");
    const own = ["-N", "-M", "-S", socket, "-o", "LogLevel=DEBUG1", ...aliveOptions(ssh.host)];
    if (!asker.interactive) own.push("-o", "BatchMode=yes");
    const child = startSsh(endingWithUs("ssh"), sshArguments(ssh, own), { ...ssh.env, ...env });
    const ended = endOf(child, this.#log);
    const done = new Promise<Master>((resolve, reject) => {
      const finish = (end: () => void): void => {
        if (this.#over.signal.aborted) return;
        this.#over.abort();
        asker.onThinking = () => undefined;
        this.#log.onLine = () => undefined;
        end();
      };
      this.#fail = (error) => {
        finish(() => {
          endGroup(child);
          reject(error instanceof Error ? error : new Error(messageOf(error)));
        });
      };
      const deadline = new Deadline(clock, answerLimitMs, this.#over.signal, () => {
        this.#fail(new ConnectError("unreachable", `${label} cannot be reached: it did not answer for 20 s.`));
      });
      asker.onThinking = (thinking) => {
        deadline.set(!thinking);
      };
      this.#log.onLine = () => {
        if (!asker.thinking) deadline.set(true);
      };
      child.stderr.on("data", () => {
        if (!this.#log.ready || !existsSync(socket)) return;
        finish(() => {
          const end = (): void => {
            endGroup(child);
          };
          resolve({ socket, log: this.#log, ended, end });
        });
      });
      void ended.then(() => this.#ended(child));
      this.#log.onRefused = () => {
        if (this.#hostAnswered) void this.#refused().then(this.#fail);
      };
      this.#log.onChangedKey = () => {
        // What follows names the command that removes the old key.
        setTimeout(() => void this.#refused().then(this.#fail), lastWordsMs);
      };
      const abort = (): void => {
        this.#fail(signal.reason);
      };
      signal.addEventListener("abort", abort, { signal: this.#over.signal });
      if (signal.aborted) abort();
      deadline.set(true);
    });
    return done;
  }

  /** A security key waits to be touched: shown by the key itself, and no clock of ours runs. */
  #touched(): Promise<string | undefined> {
    const { asker } = this.#request;
    return asker.during(
      new Promise<undefined>((resolve) => {
        this.#over.signal.addEventListener("abort", () => {
          resolve(undefined);
        });
      }),
    );
  }

  async #ended(child: PipedProcess): Promise<void> {
    if (this.#over.signal.aborted) return;
    if (child.exitCode === 127 || child.exitCode === null) {
      const { label } = this.#request;
      this.#fail(
        new ConnectError("unsupported", `${label} is for the system's ssh, and there is none on this machine.`),
      );
    } else this.#fail(await this.#refused());
  }

  #refused(): Promise<ConnectError> {
    const { label, ssh, asker } = this.#request;
    const judged = { log: this.#log, label, user: ssh.host.user, interactive: asker.interactive };
    const heard = this.#log.words.some((word) => word.includes("Permission denied ("));
    if (!heard && this.#hostAnswered) {
      this.#log.words.push(`Permission denied (${this.#log.methods.join(",")}).`);
    }
    return failureOfSsh({ ...judged, keyAsked: this.#keyAsked });
  }
}

function endOf(child: PipedProcess, log: SystemLog): Promise<string> {
  const decoder = new TextDecoder();
  child.stdout.resume();
  child.stderr.prependListener("data", (chunk: Buffer) => {
    log.feed(decoder.decode(chunk, { stream: true }));
  });
  child.on("exit", () => {
    // Lets go of the process that watches our end.
    child.stdin.destroy();
  });
  return new Promise((resolve) => {
    child.on("close", () => {
      resolve(log.words.at(-1) ?? "ssh ended");
    });
  });
}
