import { closeSync, openSync, writeSync } from "node:fs";

/**
 * Logs for measuring how fast they are read. `typical`: a night's server and job log, 2 % of its lines are readings,
 * failures are rare. `dense`: 94 % of the lines are readings. `bars`: tqdm bars, 100,000 refreshes by `\r` a line.
 */
export type MixKind = "typical" | "dense" | "bars";

const words =
  "the model answers a question about the history of numbers and then explains why an error in the second step does not matter when the sum is taken over all terms so that each case failed before is found again in the proof".split(
    " ",
  );

/** Writes a mix of about `size` bytes; the same bytes for the same seed. */
export function writeMix(file: string, kind: MixKind, size: number, seed = 1): void {
  const mix = new Mix(seed);
  const output = openSync(file, "w");
  try {
    for (let written = 0; written < size;) written += writeSync(output, mix.block(kind));
    writeSync(output, "\n");
  } finally {
    closeSync(output);
  }
}

class Mix {
  #seed: number;
  #done = 0;
  #time = 0;
  #blocks = 0;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
  }

  /** About a mebibyte. */
  block(kind: MixKind): string {
    const parts: string[] = [];
    for (let held = 0; held < 1 << 20;) {
      const next = this.#next(kind);
      held += next.length;
      parts.push(next);
    }
    return parts.join("");
  }

  #next(kind: MixKind): string {
    if (kind === "bars") {
      const bars = Array.from({ length: 1000 }, () => this.#bar()).join("");
      this.#blocks++;
      return this.#blocks % 100 === 0 ? `${bars}\n` : bars;
    }
    this.#time += this.#random();
    const share = this.#random();
    if (share < (kind === "typical" ? 0.02 : 0.94)) return this.#reading();
    return share < 0.9999 ? this.#dull() : this.#failure();
  }

  /** mulberry32 */
  #random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) >>> 0;
    let t = this.#seed;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  #int(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  #two(from: number, to: number): string {
    return String(this.#int(from, to)).padStart(2, "0");
  }

  get #clock(): string {
    const seconds = Math.floor(this.#time) % 86_400;
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return parts.map((part) => String(part).padStart(2, "0")).join(":");
  }

  #bar(): string {
    const k = this.#int(0, 500);
    const full = Math.floor(k / 50);
    const share = String(Math.floor(k / 5)).padStart(3);
    const rate = (this.#random() * 50).toFixed(2).padStart(5);
    const drawn = `${"█".repeat(full)}${" ".repeat(10 - full)}`;
    return `\r${share}%|${drawn}| ${k}/500 [00:${this.#two(0, 59)}<00:${this.#two(0, 59)}, ${rate}it/s]`;
  }

  #reading(): string {
    const random = (most: number, digits: number): string => (this.#random() * most).toFixed(digits);
    switch (this.#int(0, 3)) {
      case 0: {
        this.#done += 10;
        const rate = (this.#done / Math.max(1, this.#time)).toFixed(1);
        return `Progress: ${this.#done}/25000000 (0 errors), ${rate} req/s, avg completion: ${this.#int(250, 900)} tokens, elapsed: ${Math.floor(this.#time)}s\n`;
      }
      case 1:
        return `(APIServer pid=4242) INFO 11-02 ${this.#clock} [loggers.py:127] Engine 000: Avg prompt throughput: ${random(900, 1)} tokens/s, Avg generation throughput: ${random(3000, 1)} tokens/s, Running: ${this.#int(0, 256)} reqs, Waiting: ${this.#int(0, 50)} reqs, GPU KV cache usage: ${random(100, 1)}%, Prefix cache hit rate: ${random(100, 1)}%\n`;
      case 2:
        return `{'loss': ${random(3, 4)}, 'grad_norm': ${random(2, 6)}, 'learning_rate': ${(this.#random() * 1e-4).toExponential(4)}, 'epoch': ${random(3, 2)}}\n`;
      default:
        return `${this.#bar()}\n`;
    }
  }

  #dull(): string {
    switch (this.#int(0, 4)) {
      case 0:
        return `INFO:     127.0.0.1:${this.#int(1024, 65_000)} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n`;
      case 1:
        return `(APIServer pid=4242) INFO 11-02 ${this.#clock} [logger.py:42] Received request chatcmpl-${this.#int(1e8, 9e8).toString(16)}: params: SamplingParams(n=1, temperature=0.${this.#int(0, 9)}, max_tokens=${this.#int(256, 16_384)}, ignore_eos=False, error_on_empty=False)\n`;
      case 2: {
        const said = Array.from({ length: this.#int(8, 60) }, () => words[this.#int(0, words.length - 1)]);
        return `[sample ${this.#int(0, 25_000)}] ${said.join(" ")}\n`;
      }
      case 3:
        return `2026-11-02 ${this.#clock},${this.#int(100, 999)} - datagen.writer - DEBUG - flushed ${this.#int(1, 200)} rows to /data/out/shard-${this.#two(0, 63)}.jsonl (0 errors so far)\n`;
      default:
        return `/opt/env/lib/python3.12/site-packages/torch/utils/checkpoint.py:${this.#int(50, 900)}: UserWarning: the default of use_reentrant will change\n`;
    }
  }

  #failure(): string {
    switch (this.#int(0, 2)) {
      case 0:
        return `Traceback (most recent call last):\n  File "gen.py", line ${this.#int(1, 400)}, in main\n    run()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${this.#int(1, 40)}.00 GiB. GPU ${this.#int(0, 7)} has a total capacity of 139.80 GiB of which ${this.#int(1, 19)}.20 GiB is free.\n`;
      case 1:
        return `run.sh: line ${this.#int(1, 90)}: huggingface-cli: command not found\n`;
      default:
        return `OSError: [Errno 28] No space left on device: '/data/out/shard-${this.#two(0, 63)}.jsonl'\n`;
    }
  }
}
