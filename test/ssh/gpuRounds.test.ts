// Lines of nvidia-smi come in dozens: what waits for the end of a round must not pile up.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import type { GpuReport } from "../../src/core/ports";
import { fieldLists, watchGpus } from "../../src/ssh/gpus";
import { HandClock } from "../unit/handClock";
import { definition, identity, stage } from "../unit/sessions";

const gpus = 64;

/** A round of many GPUs, a line at a time. */
function* round(): Generator<Buffer> {
  for (let n = 0; n < gpus; n++) yield Buffer.from(`${n}, GPU-${n}, NVIDIA H200, 1, 2, 3, 4, 5, 6\n`);
}

test("one timer waits for the end of a round, however many lines it has, and none is left after it", async () => {
  const clock = new HandClock();
  const ending = new AbortController();
  let goOn = (): void => undefined;
  const listeners: number[] = [];
  const signals = new Set<AbortSignal>();
  const counted = {
    now: () => clock.now(),
    sleep: (ms: number, signal?: AbortSignal) => {
      const sleeping = clock.sleep(ms, signal);
      if (signal) signals.add(signal);
      listeners.push(signal ? getEventListeners(signal, "abort").length : 0);
      return sleeping;
    },
  };
  let given = (): void => undefined;
  const all = new Promise<void>((resolve) => {
    given = resolve;
  });
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`@ fields ${fieldLists[0]}\n`);
    yield* round();
    given();
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    yield* round();
  }
  const host = definition(stage("a")).hosts.get("gpu8");
  assert.ok(host);
  const session = { definition: host, identity, variables: {}, clock: counted, control: { stream } };
  const seen: GpuReport[] = [];
  const watching = (async () => {
    for await (const report of watchGpus(session, 2, ending.signal)) {
      seen.push(report);
      if (seen.length === 2) return;
    }
  })();
  await all;
  await clock.pass(1000);
  goOn();
  await watching;
  for (const report of seen) assert.equal(report.kind === "samples" ? report.samples.length : 0, gpus);
  assert.ok(listeners.length > 0);
  assert.equal(Math.max(...listeners), 1);
  await clock.pass(1000);
  for (const signal of signals) assert.equal(getEventListeners(signal, "abort").length, 0);
});
