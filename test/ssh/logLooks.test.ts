// Logs without a channel of their own are looked at by one script that stays; it is asked again for each round.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LogLooks } from "../../src/ssh/logLooks";
import { HandClock } from "../unit/handClock";

const roundMs = 1000;

/** A host that answers each look with the next text, and counts what it was asked. */
function answering(answers: readonly string[]): {
  readonly looks: LogLooks;
  readonly clock: HandClock;
  readonly started: string[][];
  readonly asked: () => number;
} {
  const left = [...answers];
  const started: string[][] = [];
  const clock = new HandClock();
  let asked = 0;
  const repeat: ConstructorParameters<typeof LogLooks>[0]["repeat"] = (_parts, variables) => {
    const { path_count, ...paths } = variables;
    started.push(Object.values(paths).map(String));
    assert.equal(path_count, Object.keys(paths).length);
    let again = (): void => undefined;
    async function* output(): AsyncGenerator<Uint8Array> {
      for (;;) {
        const woken = new Promise<void>((resolve) => {
          again = resolve;
        });
        yield Buffer.from(left.shift() ?? "");
        await woken;
      }
    }
    return Promise.resolve({
      output: output(),
      again: () => {
        asked++;
        again();
        return Promise.resolve();
      },
    });
  };
  return { looks: new LogLooks({ repeat }, clock, roundMs), clock, started, asked: () => asked };
}

test("one script looks at all logs, round by round; another path needs another one", async () => {
  const first = "@ file\n@ missing\n8 21 100\n@ over\n";
  const { looks, clock, started, asked } = answering([first, "@ same\n", "@ file\n8 21 7\n@ over\n"]);
  const round = async (...paths: readonly string[]): Promise<readonly unknown[]> => {
    const all = Promise.all(paths.map((path) => looks.inTurn(path)));
    await clock.pass(roundMs);
    return all;
  };
  const file = { kind: "file", at: { device: "8", inode: "21", size: 100 } };
  assert.deepEqual(await round("/a", "/b"), [file, { kind: "missing" }]);
  assert.deepEqual(await round("/b"), [{ kind: "missing" }]);
  assert.deepEqual(started, [["/a", "/b"]]);
  assert.equal(asked(), 1);
  assert.deepEqual(await round("/c"), [{ ...file, at: { ...file.at, size: 7 } }]);
  assert.deepEqual(started, [["/a", "/b"], ["/c"]]);
});

test("a file that goes between two looks is looked at closer", async () => {
  const { looks } = answering(["@ file\n\n@ over\n"]);
  assert.deepEqual(await looks.now("/a"), { kind: "file" });
});

test("more lines than there are paths are no answer, and a broken script is started anew", async () => {
  const { looks, clock, started } = answering(["@ file\n".repeat(9), "@ missing\n@ over\n"]);
  await assert.rejects(looks.now("/a"), /does not say what is at the paths/);
  const look = looks.inTurn("/a");
  await clock.pass(roundMs);
  assert.deepEqual(await look, { kind: "missing" });
  assert.equal(started.length, 2);
});
