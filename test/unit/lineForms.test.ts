import assert from "node:assert/strict";
import { test } from "node:test";
import { LogReader } from "../../src/core/log/reader";
import type { ProgressReading } from "../../src/core/log/reading";

/** A line as its tool prints it, and what is read: format, done, total, seconds left, loss. */
const lines: readonly (readonly [string, string, ...(number | undefined)[]])[] = [
  [
    "03/02/2026 10:01:01 [INFO|DP=0|PP=0|TP=0|ip-10-0-0-1]: iteration: 20 / 20000 | consumed_tokens: 10.48M | time_per_iteration_ms: 812 | lm_loss: 8.8 | lr: 0.0003 | model_tflops_per_gpu: 301 | eta: 4:29:49",
    "nanotron",
    20,
    20_000,
    16_189,
    8.8,
  ],
  [
    "2026-03-02 10:01:01.123\tgpu-01:0\tolmo_core.train.callbacks.console_logger:68\tINFO\t[step=10/143010,epoch=1,eta=3d 4h]",
    "olmo-core",
    10,
    143_010,
    273_600,
  ],
  ["[batch=30/4800]:", "composer", 30, 4800],
  [
    "Epoch 1 | iter 9 step 2 | loss train: 8.100, val: n/a | iter time: 412.11 ms (step) remaining time: 3 days, 4:12:41",
    "litgpt",
    9,
    undefined,
    274_361,
    8.1,
  ],
  [
    "10:03:01    INFO Step 3 |   4.1s | Loss 1.1700 | Grad. Norm 0.4121 | LR 1.00e-05 | Throughput 41212 tokens/s",
    "prime-rl",
    3,
    undefined,
    undefined,
    1.17,
  ],
  ["Epoch 1/10 Step 3/467 Train step 3/4670 done.", "areal", 3, 4670],
  ["========================= Step 3/467 =========================", "nemo-rl", 3, 467],
  ["INFO:tensorflow:loss = 0.5121, step = 200 (7.752 sec)", "tf-estimator", 200, undefined, undefined, 0.5121],
  ["INFO:tensorflow:global step 3: loss = 76.0000 (15.205 sec/step)", "tf-slim", 3, undefined, undefined, 76],
  [
    "2021-03-30 06:52:57 [INFO]\t[TRAIN] epoch: 1, iter: 40/500, loss: 1.9000, lr: 0.009657, batch_cost: 0.5344, ips: 3.7425 samples/sec | ETA 00:03:16",
    "paddle",
    40,
    500,
    196,
    1.9,
  ],
  ["loss: 2.170545  [   64/60000]", "quickstart", 64, 60_000, undefined, 2.170545],
  [
    "2026-03-02 10:02:01 | INFO     | yolox.core.trainer:271 - epoch: 3/300, iter: 20/1849, mem: 5012Mb, iter_time: 0.412s, data_time: 0.012s, total_loss: 12.0, iou_loss: 4.1, lr: 1.2e-04, size: 640, ETA: 1 day, 3:17:11",
    "yolox",
    20,
    1849,
    98_231,
    12,
  ],
  [
    "2026-08-10 15:55:23 | INFO | root | step 11 | epoch 0 | loss 0.6700 | grad_norm 1.5436 | lr 1.00e-05 | mem 24.90 GiB",
    "automodel",
    11,
    undefined,
    undefined,
    0.67,
  ],
  [
    "{'loss': 0.43, 'grad_norm': 18.5, 'learning_rate': 1e-06, 'epoch': 0.28, 'global_step/max_steps': '12/94', 'percentage': '12.77%', 'elapsed_time': '18m 26s', 'remaining_time': '2h 5m 59s'}",
    "ms-swift",
    12,
    94,
    7559,
    0.43,
  ],
  ["[20]\ttrain-logloss:0.36121\teval-logloss:0.37001", "xgboost", 20],
  ["[100]\ttraining's binary_logloss: 0.352331\tvalid_1's binary_logloss: 0.37", "lightgbm", 100],
  [
    "200:\tlearn: 0.3821412\ttest: 0.3912001\tbest: 0.3912001 (200)\ttotal: 10.1s\tremaining: 40.2s",
    "catboost",
    200,
    undefined,
    40.2,
    0.3821412,
  ],
  ["[Parallel(n_jobs=8)]: Done 104 out of 120 | elapsed:  2.1min remaining:   19.4s", "joblib", 104, 120],
  ["|    total_timesteps      | 61440       |", "sb3", 61_440],
  ["global_step=4096, episodic_return=[41.]", "cleanrl", 4096],
  ["                 Learning iteration 103/1500 ", "rsl-rl", 103, 1500],
  ["tick 2     kimg 8.0      time 4m 11s       sec/tick 121.2   sec/kimg 30.11", "stylegan", 8],
  ["INFO - Start quantizing layer 4/32", "gptq", 4, 32],
  ["2026-03-02T10:01:01.123456Z  INFO text_generation_launcher: Download: [1/30] -- ETA: 0:14:30", "tgi", 1, 30, 870],
  ["Query 2/120: sp_P12346 (length 311)", "colabfold", 2, 120],
  ["4 of 13 steps (31%) done", "snakemake", 4, 13],
  ["End of epoch 1 / 200 \t Time Taken: 91 sec", "cyclegan", 1, 200],
];

function progressOf(text: string): ProgressReading[] {
  const reader = new LogReader();
  const readings = [...reader.push(new TextEncoder().encode(text)), ...reader.flush()];
  return readings.filter((one) => one.kind === "progress");
}

test("trainers and jobs that print one regular line a step", () => {
  for (const [line, format, done, total, eta, loss] of lines) {
    const [reading, ...more] = progressOf(`${line}\n`);
    assert.equal(more.length, 0, line);
    assert.deepEqual(
      [reading?.format, reading?.done, reading?.total, reading?.eta_s, reading?.metrics?.["loss"], reading?.role],
      [format, done, total, eta, loss, "main"],
      line,
    );
  }
});

test("what stands beside the job is beside it", () => {
  const bars = ["Saving checkpoint shards", "Writing model shards", "Epoch 1 (val)", "[Val] Epoch 3", "Validate"];
  for (const label of bars)
    assert.equal(progressOf(`${label}:  50%|█████     | 2/4 [00:01<00:01,  2.00it/s]\n`)[0]?.role, "aux", label);
  assert.equal(progressOf("[Eval batch=32/64] Eval on eval data\n")[0]?.role, "aux");
});

test("only a share is read where only a share is printed", () => {
  const words = "Progress:  12.3% words/sec/thread:   41210 lr:  0.049950 avg.loss:  4.121210 ETA:   2h41m 9s\n";
  const [reading] = progressOf(words);
  assert.deepEqual([reading?.done, reading?.total, reading?.unit], [undefined, undefined, undefined]);
  assert.deepEqual([reading?.metrics?.["percent"], reading?.eta_s], [12.3, 9669]);
});

test("such lines in a sentence or a quotation say nothing", () => {
  for (const text of [
    'He wrote "global_step=4096, episodic_return=[41.]" into the file.',
    "```\nEpoch 1/10 Step 3/467 Train step 3/4670 done.\n```",
    "The step of the snakemake log says 4 of 13 steps (31%) done",
    "== Step 3/467 ==",
  ])
    assert.deepEqual(progressOf(`${text}\n`), [], text);
});
