// Requests of one connection take turns at printing by a token; it must outlast whatever ends the one that holds it.
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Control } from "../../src/ssh/control";
import { kill, processesWith, realClock, shells, until } from "./hostHarness";
import { makeLocal } from "./localHost";

const never = new AbortController().signal;
const told = (text: string): string => `hold\nprintf '${text}\\n'\nfinish\n`;

for (const { name, path } of shells) {
  describe(`the one shell of a connection, under ${name}`, { timeout: 240_000 }, () => {
    it("goes on answering where a request is let go in the moment of its end", () =>
      withControl(path, async (control) => {
        // What is let go gets a signal: here while it has yet to give the token back.
        const slow = "give() {\n  sleep 0.3\n  printf '\\n' >&5\n}\n";
        const lines = await textOf(control.stream([slow + told("one")], {}, never));
        assert.match(lines, /^one\n/);
        assert.deepEqual(await control.ask(["printf 'two\\n'\nfinish\n"], {}), ["two"]);
        assert.match(await textOf(control.stream([told("three")], {}, never)), /^three\n/);
      }));

    it("leaves nothing behind where the link is cut while one request prints and others wait to", () =>
      withControl(path, async (control, home) => {
        const flood = control.stream(["hold\nwhile :; do printf 'x\\n'; done\n"], {}, never)[Symbol.asyncIterator]();
        await flood.next();
        const waiting = [1, 2].map(() => textOf(control.stream([told("late")], {}, never)).catch(String));
        // Main, the watchdog and its sleep, and all three.
        await until("all at work", () => processesWith(home).length >= 6);
        control.dispose();
        await Promise.all(waiting);
        await until("nothing left", () => processesWith(home).length === 0);
      }));

    it("leaves nothing behind where it was killed itself and the link is cut", () =>
      withControl(
        path,
        async (control, home) => {
          const telling = ["one", "two"].map((word) =>
            textOf(control.stream([`while :; do\n  tell ${word}\n  sleep 0.1\ndone\n`], {}, never)).catch(String),
          );
          await until("both at work", () => withChildren(home, 3).length === 1);
          for (const main of withChildren(home, 3)) kill(main);
          control.dispose();
          await Promise.all(telling);
          await until("nothing left", () => processesWith(home).length === 0);
        },
        3,
      ));
  });
}

/** The processes that have at least so many others as children. */
function withChildren(home: string, count: number): readonly number[] {
  const all = processesWith(home);
  const parents = all.map((pid) => {
    try {
      return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
    } catch {
      return 0;
    }
  });
  return all.filter((pid) => parents.filter((parent) => parent === pid).length >= count);
}

async function withControl(
  shell: string,
  use: (control: Control, home: string) => Promise<void>,
  silenceSeconds = 90,
): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "mls-token-"));
  const [home, bin] = [join(root, "home"), join(root, "bin")];
  mkdirSync(home);
  mkdirSync(bin);
  symlinkSync(shell, join(bin, "sh"));
  const transport = makeLocal()({ home, bin });
  const control = new Control({ transport, clock: realClock, silenceSeconds });
  try {
    await use(control, home);
  } finally {
    control.dispose();
    transport.dispose();
    for (const pid of processesWith(home)) kill(pid);
    rmSync(root, { recursive: true, force: true });
  }
}

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
