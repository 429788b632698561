import type { HostKeyQuestion, Prompter, PromptQuestion } from "../core/trust";

/** Asks the person, or says that nobody may be asked; and knows when somebody is thinking, so that no clock runs then. */
export class Asker {
  readonly #prompter: Prompter | undefined;
  #open = 0;
  /** Told when the first question opens (`true`) and when the last one closes. */
  onThinking: (thinking: boolean) => void = () => undefined;

  /** @param prompter absent for connections that nobody clicked for. */
  constructor(prompter: Prompter | undefined) {
    this.#prompter = prompter;
  }

  get interactive(): boolean {
    return this.#prompter !== undefined;
  }

  /** Whether somebody is being asked right now. */
  get thinking(): boolean {
    return this.#open > 0;
  }

  async confirmHostKey(question: HostKeyQuestion): Promise<boolean> {
    return (await this.during(this.#prompter?.confirmHostKey(question))) === true;
  }

  /** `undefined`: cancelled, or nobody may be asked. */
  ask(question: PromptQuestion): Promise<string | undefined> {
    return this.during(this.#prompter?.ask(question));
  }

  /** Waits for something that a person decides elsewhere, as an agent that asks before it signs. */
  async during<T>(answer: Promise<T> | undefined): Promise<T | undefined> {
    if (++this.#open === 1) this.onThinking(true);
    try {
      return await answer;
    } finally {
      if (--this.#open === 0) this.onThinking(false);
    }
  }
}

/**
 * One question at a time, whichever host asks: a second input box would close the first, which reads as a cancel. A
 * question that failed does not hold up the next one.
 */
export function inTurn(prompter: Prompter): Prompter {
  let last: Promise<unknown> = Promise.resolve();
  const next = <T>(question: () => Promise<T>): Promise<T> => {
    const answer = last.then(question, question);
    last = answer;
    return answer;
  };
  return {
    confirmHostKey: (question) => next(() => prompter.confirmHostKey(question)),
    ask: (question) => next(() => prompter.ask(question)),
  };
}
