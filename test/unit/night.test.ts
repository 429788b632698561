import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dateBacklog } from "../../src/core/backlog";
import { LogDates } from "../../src/core/logDates";
import type { ProgressReading } from "../../src/core/log/reading";
import type { GpuSample, LogMark } from "../../src/core/ports";
import { applyEvent } from "../../src/core/session/apply";
import type { SessionEvent } from "../../src/core/session/events";
import type { Session } from "../../src/core/session/model";
import type { SeriesSet } from "../../src/core/session/series";
import { Throughput } from "../../src/core/session/throughput";
import { historyOf } from "../../src/ssh/history";
import { definition, member, ofStage, play, progress, record, records, stage } from "./sessions";

const began = 1_796_200_000_000;
const hourMs = 3_600_000;
const fields = "index,uuid,name,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit";

/** What a host does in a night: when its recorder looks, and how its log grows. */
interface Night {
  readonly ticks: readonly number[];
  readonly lines: readonly { readonly at: number; readonly offset: number; readonly end: number }[];
}

/** Twelve hours: a look each 10 s, and now and then one that comes late; lines at any time, some of them long after others. */
function nightOf(random: () => number): Night {
  const ticks: number[] = [];
  for (let at = began; at <= began + 12 * hourMs; at += 10_000 + (random() < 0.01 ? 10_000 : 0)) ticks.push(at);
  const lines: { at: number; offset: number; end: number }[] = [];
  let [at, offset] = [began + 100, 0];
  while (at < began + 12 * hourMs - 20_000) {
    const end = offset + 20 + Math.floor(random() * 200);
    lines.push({ at, offset, end });
    offset = end;
    at += 100 + Math.floor(random() * (random() < 0.02 ? 1_200_000 : 40_000));
  }
  return { ticks, lines };
}

/** A generator that fast-check can repeat. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const valuesAt = (at: number, gpu: number): readonly (number | string)[] => {
  const wave = (at / 10_000 + gpu * 7) % 101;
  // A driver that does not say how hot it is, and now and then nothing of the power.
  return [
    Math.floor(wave),
    131_000 + gpu,
    143_771,
    gpu === 3 ? "[N/A]" : 60 + gpu,
    wave > 97 ? "ERR!" : 500 + wave / 8,
    700,
  ];
};
const lineOf = (at: number, gpu: number): string => `${gpu}, GPU-${gpu}, NVIDIA H200, ${valuesAt(at, gpu).join(", ")}`;

/** What recorder.sh writes of the night, in segments as it makes them. */
function spoolOf({ ticks, lines }: Night, gpus: number): string {
  const spool: string[] = [];
  let [next, size, told] = [0, 0, -1];
  for (const [index, at] of ticks.entries()) {
    if (index % 1500 === 0) {
      spool.push("", "v 1", `f ${fields}`, "S 1 night/s/0/r1");
      for (let gpu = 0; gpu < gpus; gpu++) spool.push(`G ${gpu}, GPU-${gpu}, NVIDIA H200`);
      told = -1;
    }
    while ((lines[next]?.at ?? Infinity) <= at) size = lines[next++]?.end ?? size;
    spool.push(`t ${at / 1000}`, "h 3.1 81234567 527000000");
    if (size !== told) spool.push(`s 1 77 ${size}`);
    told = size;
    for (let gpu = 0; gpu < gpus; gpu++) spool.push(`d ${gpu}, ${valuesAt(at, gpu).join(", ")}`);
  }
  return `${spool.join("\n")}\n`;
}

function numbersOf({ byName }: SeriesSet): Record<string, readonly (readonly number[])[]> {
  return Object.fromEntries([...byName].map(([name, { times, values }]) => [name, [[...times], [...values]]]));
}

const gpusOf = (session: Session): readonly Record<string, readonly (readonly number[])[]>[] =>
  (session.hosts.get("gpu8")?.gpus ?? []).map(({ series }) => numbersOf(series));

/** As a live window gets them, a round at a time. */
function roundsOf(samples: readonly GpuSample[]): readonly SessionEvent[] {
  const rounds = new Map<number, GpuSample[]>();
  for (const sample of samples) rounds.set(sample.at, [...(rounds.get(sample.at) ?? []), sample]);
  return [...rounds].map(([at, of]) => ({
    type: "gpus",
    at,
    host: "gpu8",
    report: { kind: "samples", samples: of },
  }));
}

test("GPUs of a night that nobody saw have the numbers of a window that was open", () => {
  const night = nightOf(randomOf(7));
  const { gpus } = historyOf(spoolOf(night, 8));
  assert.equal(gpus.length, 8 * night.ticks.length);
  const rounds = roundsOf(gpus);
  const at = began + 12 * hourMs;
  const open = play(definition(stage("s")), ...rounds);
  // Seen in the first hour and in the last minute, asked for from half an hour before it was lost.
  const hour = rounds.filter((event) => event.at < began + hourMs);
  const missed: SessionEvent = {
    type: "gpu-history",
    at,
    host: "gpu8",
    samples: gpus.filter((sample) => sample.at > began + hourMs / 2 && sample.at < at - 60_000),
  };
  const last = rounds.filter((event) => event.at >= at - 60_000);
  const closed = play(definition(stage("s")), ...hour, missed, ...last);
  assert.deepEqual(gpusOf(closed), gpusOf(open));
  // A new window, which asks for everything, and a second answer of the same.
  const all: SessionEvent = { ...missed, samples: gpus.filter((sample) => sample.at < at - 60_000) };
  const renewed = play(definition(stage("s")), all, all, ...last);
  assert.deepEqual(gpusOf(renewed), gpusOf(open));
});

test("a GPU that only the recorder saw is not shown as if it were seen now", () => {
  const { gpus } = historyOf(spoolOf(nightOf(randomOf(1)), 2));
  const session = play(definition(stage("s")), { type: "gpu-history", at: began, host: "gpu8", samples: gpus });
  assert.deepEqual(session.hosts.get("gpu8")?.gpus, []);
});

/** Lines as they would be read, with or without the elapsed time in them. */
function readingsOf({ lines }: Night, elapsed: boolean): readonly { reading: ProgressReading; at: number }[] {
  return lines.map(({ at, offset }, index) => {
    const told = elapsed ? { elapsed_s: Math.floor((at - began) / 1000) } : {};
    return { reading: progress(index + 1, 100_000, { offset, ...told }), at };
  });
}

test("each line of a night is dated to 30 s, whether it tells the time or not", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), fc.boolean(), (seed, elapsed) => {
      const night = nightOf(randomOf(seed));
      const [kept] = historyOf(spoolOf(night, 0)).runs;
      assert.equal(kept?.run, "r1");
      const lines = readingsOf(night, elapsed);
      const dates = new LogDates(kept.marks, "77");
      const dated = dateBacklog(
        lines.map(({ reading }) => reading),
        lines.at(-1)?.at ?? 0,
        (offset) => dates.of(offset),
      );
      let before = -Infinity;
      for (const [index, { at }] of dated.entries()) {
        const really = lines[index]?.at ?? NaN;
        assert.ok(Math.abs(at - really) <= 30_000, `line ${index}: ${(at - really) / 1000} s`);
        assert.ok(at >= before);
        before = at;
      }
    }),
    { numRuns: 40 },
  );
});

test("the progress of a night that nobody saw has the numbers of a window that was open", () => {
  const night = nightOf(randomOf(11));
  const [kept] = historyOf(spoolOf(night, 0)).runs;
  const lines = readingsOf(night, false);
  const now = began + 12 * hourMs;
  const start = records(began, record("s", { startedAt: began, run: "r1" }));
  const open = play(
    definition(stage("s")),
    start,
    ...lines.map(({ reading, at }): SessionEvent => ({ type: "progress", at, ...ofStage("s"), reading })),
  );
  const [seen, missed] = [
    lines.filter(({ at }) => at < began + hourMs),
    lines.filter(({ at }) => at >= began + hourMs),
  ];
  const dates = new LogDates(kept?.marks ?? [], "77");
  const readings = dateBacklog(
    missed.map(({ reading }) => reading),
    missed.at(-1)?.at ?? 0,
    (offset) => dates.of(offset),
  );
  const closed = play(
    definition(stage("s")),
    start,
    ...seen.map(({ reading, at }): SessionEvent => ({ type: "progress", at, ...ofStage("s"), reading })),
    { type: "backlog", at: now, ...ofStage("s"), readings },
  );
  const [one, other] = [open, closed].map((session) => member(applyEvent(session, { type: "tick", at: now }), "s"));
  assert.ok(one && other);
  const [openDone, closedDone] = [one, other].map(({ series }) => series.byName.get("done"));
  assert.ok(openDone && closedDone);
  assert.deepEqual([...closedDone.values], [...openDone.values]);
  assert.ok(closedDone.times.every((at, index) => Math.abs(at - (openDone.times[index] ?? NaN)) <= 30_000));
  assert.deepEqual(other.progress, one.progress);
  assert.ok(one.eta && other.eta);
  // The speeds that are drawn: the mean of the night, and what each hour had.
  const [a, b] = [openDone, closedDone].map((series) => {
    const speed = new Throughput(series);
    speed.update();
    return speed.mean.values.at(-1) ?? NaN;
  }) as [number, number];
  assert.ok(Math.abs(a / b - 1) < 0.001, `${a} and ${b}`);
});

test("what stood in a log before it was cut does not date what stands there now", () => {
  const mark = (at: number, size: number, inode = "1"): LogMark => ({ at, inode, size });
  const dates = new LogDates([mark(0, 0), mark(10, 500), mark(20, 100), mark(30, 300), mark(40, 900, "2")], "1");
  assert.equal(dates.of(50), undefined);
  assert.deepEqual(dates.of(200), { from: 20, at: 25, to: 30 });
  assert.equal(dates.of(400), undefined);
});

test("what cannot be understood is passed over, also what was cut off or is of a newer version", () => {
  const good = ["v 1", `f ${fields}`, "S 1 n/s/0/r1", "t 100", "s 1 5 10", `g ${lineOf(0, 0)}`];
  const bad = [
    "t",
    "G x",
    "d 7, 1, 2, 3, 4, 5, 6",
    "d 0, 1",
    "o 1 lines",
    "o 1 what 1 1 1 -",
    "g 1, GPU",
    "s 1 5",
    "s 9 5 10",
    "s 1 x 10",
    "",
    "@ what",
    "t x",
    "No devices were found",
  ];
  const { gpus, runs } = historyOf([...good, ...bad, "v 2", "s 1 5 99", "g 0, GPU-0"].join("\n"));
  assert.equal(gpus.length, 1);
  assert.deepEqual(runs, [{ run: "r1", marks: [{ at: 100_000, inode: "5", size: 10 }], outputs: [] }]);
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...good, ...bad), fc.string())), (lines) => {
      historyOf(lines.join("\n"));
    }),
  );
});

test("spools of an older version, with all of each GPU in each line, are read as well", () => {
  const old = ["v 1", `f ${fields}`, "t 100", `g ${lineOf(0, 0)}`];
  const now = ["v 1", `f ${fields}`, "G 0, GPU-0, NVIDIA H200", "t 100", `d 0, ${valuesAt(0, 0).join(", ")}`];
  assert.deepEqual(historyOf(old.join("\n")).gpus, historyOf(now.join("\n")).gpus);
});

test("what a run has written in a night that nobody saw is as in a window that was open, its stand-still too", () => {
  const at = (minute: number): number => began + minute * 60_000;
  const lines = (minute: number): number => 10 * Math.min(minute, 200);
  const minutes = Array.from({ length: 400 }, (_, minute) => minute);
  const spool = ["v 1", "S 1 night/s/0/r1"];
  for (const minute of minutes) {
    const written = Math.floor(at(Math.min(minute, 200)) / 1000);
    spool.push(`t ${Math.floor(at(minute) / 1000)}`, `o 1 lines ${lines(minute)} ${lines(minute) * 7} ${written} -`);
  }
  const [kept] = historyOf(spool.join("\n")).runs;
  assert.equal(kept?.outputs.length, 400);
  const looks = kept.outputs.map(({ at: seen, count, bytes, newestAt = 0 }) => ({
    at: seen,
    unit: "lines" as const,
    done: count,
    bytes,
    total: 25_000,
    newestAt,
  }));
  const of = { outputs: { files: ["*.jsonl"], count: "lines" as const } };
  const start = records(began, record("s", { startedAt: began, run: "r1" }));
  const single = (look: (typeof looks)[number]): SessionEvent => ({
    type: "written",
    ...ofStage("s"),
    run: "r1",
    ...look,
  });
  const open = play(definition(stage("s", of)), start, ...looks.map(single));
  const seen = looks.slice(0, 60).map(single);
  const missed: SessionEvent = { type: "written-history", at: at(400), ...ofStage("s"), run: "r1", looks };
  const closed = play(definition(stage("s", of)), start, ...seen, missed, missed);
  const [one, other] = [open, closed].map((session) => {
    const { series, written, progress: told } = member(applyEvent(session, { type: "tick", at: at(400) }), "s");
    return { series: numbersOf(series), written, told };
  });
  assert.deepEqual(other, one);
  assert.equal(one?.written?.grewAt, at(200));
  // Of another run, nothing.
  const unknown = play(definition(stage("s", of)), start, { ...missed, run: "r0" });
  assert.equal(member(unknown, "s").written, undefined);
});
