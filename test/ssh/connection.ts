import type { Clock, Logger, Channel } from "../../src/core/ports";
import { hostDefaults } from "../../src/core/session/defaults";
import type { HostAddress, HostDefinition } from "../../src/core/session/definition";
import type { Prompter, PromptQuestion, TrustedKeys, HostKeyQuestion } from "../../src/core/trust";
import type { ConnectorOptions } from "../../src/ssh/connect";

/** Real time. */
const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      if (signal?.aborted === true) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    }),
};

/** Time that stands still until `pass` is called, then wakes whatever sleeps for up to that long. */
export class FakeClock implements Clock {
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { until: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason as Error);
      });
      if (signal?.aborted === true) reject(signal.reason as Error);
    });
  }

  pass(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.until <= this.#now);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.until > this.#now);
    for (const sleeper of due) sleeper.wake();
  }
}

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A person who answers from a list, and what they were asked. */
export class ScriptedPerson implements Prompter {
  readonly questions: (HostKeyQuestion | PromptQuestion)[] = [];
  readonly #acceptKeys: boolean;
  readonly #answers: (string | undefined)[];

  constructor(acceptKeys: boolean, answers: readonly (string | undefined)[] = []) {
    this.#acceptKeys = acceptKeys;
    this.#answers = [...answers];
  }

  confirmHostKey(question: HostKeyQuestion): Promise<boolean> {
    this.questions.push(question);
    return Promise.resolve(this.#acceptKeys);
  }

  ask(question: PromptQuestion): Promise<string | undefined> {
    this.questions.push(question);
    if (this.#answers.length === 0) throw new Error(`An unexpected question: ${question.prompt}`);
    return Promise.resolve(this.#answers.shift());
  }
}

/** The product's store of host keys, in memory. */
export class KeysInMemory implements TrustedKeys {
  readonly kept: string[] = [];

  lines(): readonly string[] {
    return this.kept;
  }

  remember(line: string): Promise<void> {
    this.kept.push(line);
    return Promise.resolve();
  }
}

/** Options that reach nothing of the machine's own: no agent, no configuration but the given one. */
export function optionsFor(home: string, more: Partial<ConnectorOptions> = {}): ConnectorOptions {
  return {
    isTrusted: () => true,
    prompter: new ScriptedPerson(false),
    trustedKeys: new KeysInMemory(),
    clock,
    logger: silent,
    env: { PATH: process.env["PATH"] },
    home,
    user: "somebody",
    ...more,
  };
}

export function hostAt(address: HostAddress): HostDefinition {
  return { ...hostDefaults, name: "box", address };
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Everything a command did. */
export async function run(
  channel: Channel,
): Promise<{ stdout: string; stderr: string; exit: Awaited<Channel["exit"]> }> {
  const [stdout, stderr, exit] = await Promise.all([textOf(channel.stdout), textOf(channel.stderr), channel.exit]);
  return { stdout, stderr, exit };
}
