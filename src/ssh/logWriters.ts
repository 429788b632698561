import type { LogWriter } from "../core/following";
import writerScript from "../host/logWriter.sh";
import type { Control } from "./control";

interface Waiting {
  readonly path: string;
  readonly known: number;
  readonly resolve: (writer: LogWriter) => void;
  readonly reject: (error: unknown) => void;
}

/** Looks for who writes logs. What is asked in one moment is one request: a search looks at the files of all processes. */
export class LogWriters {
  readonly #control: Control;
  #waiting: Waiting[] = [];

  constructor(control: Control) {
    this.#control = control;
  }

  /** @param known the process that had it open last; see `HostOps.logWriter` */
  of(path: string, known = 0): Promise<LogWriter> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ path, known: Math.max(0, Math.floor(known)), resolve, reject });
      if (this.#waiting.length === 1)
        queueMicrotask(() => {
          void this.#ask();
        });
    });
  }

  async #ask(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    try {
      const variables: Record<string, string | number> = { path_count: asked.length };
      asked.forEach(({ path, known }, index) => {
        variables[`path_${index}`] = path;
        variables[`known_${index}`] = known;
      });
      const answer = await this.#control.ask([writerScript], variables);
      asked.forEach(({ resolve }, index) => {
        resolve(writerOf(answer[index] ?? ""));
      });
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}

function writerOf(answer: string): LogWriter {
  const [, pid] = /^@ open (\d+)$/.exec(answer) ?? [];
  if (pid !== undefined) return { open: true, pid: Number(pid) };
  return answer === "@ closed" ? { open: false } : {};
}
