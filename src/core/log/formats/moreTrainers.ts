import type { ProgressFormat } from "./format";
import { behindLogger, lineFormat, number, type LineForm } from "./lineForm";

/** Each comment has the tool, where it was read, and a line. */
const forms: readonly LineForm[] = [
  {
    // nanotron (logging/base.py): `iteration: 20 / 20000 | consumed_tokens: 10.48M | … | lm_loss: 8.6 | … | eta: 4:29:11`
    key: "nanotron",
    needles: [" | consumed_tokens: "],
    pattern: behindLogger(
      String.raw`iteration: (?<done>\d+) \/ (?<total>\d+) \| consumed_tokens: .{0,600}?lm_loss: (?<loss>${number})(?:.{0,600}?\beta: (?<eta>[\d:]+|\d+ days?, [\d:]+))?`,
    ),
    unit: "step",
  },
  {
    // OLMo-core (console_logger.py): `[step=20/143010,epoch=1,eta=3d 4h]`
    key: "olmo-core",
    needles: ["[step=\\d"],
    pattern: behindLogger(String.raw`\[step=(?<done>\d+)\/(?<total>\d+)(?:,epoch=\d+)?(?:,eta=(?<eta>[\dhms d]+))?\]`),
    unit: "step",
  },
  {
    // Composer (console_logger.py): `[batch=30/4800]:`, its evaluation `[Eval batch=32/64] Eval on eval data`
    key: "composer",
    needles: ["[batch="],
    pattern: behindLogger(String.raw`\[batch=(?<done>\d+)\/(?<total>\d+)\]:`),
    unit: "batch",
  },
  {
    key: "composer",
    needles: ["[Eval batch="],
    pattern: behindLogger(String.raw`\[Eval batch=(?<done>\d+)\/(?<total>\d+)\] `),
    unit: "batch",
    aux: true,
  },
  {
    // LitGPT (pretrain.py): `Epoch 1 | iter 9 step 2 | loss train: 8.100, val: n/a | iter time: 412.11 ms (step) remaining time: 3 days, 4:12:41`
    key: "litgpt",
    needles: [" | loss train: "],
    pattern: behindLogger(
      String.raw`Epoch \d+ \| iter (?<done>\d+) step \d+ \| loss train: (?<loss>${number}),.{0,120}?(?:remaining time: (?<eta>(?:\d+ days?, )?[\d:]+)|$)`,
    ),
    unit: "it",
  },
  {
    // prime-rl (trainer/sft/train.py): `Step 2 |   4.1s | Loss 1.1800 | Grad. Norm 0.4121 | LR 1.00e-05 | …`
    key: "prime-rl",
    needles: [" | Loss ", " | Grad. Norm "],
    pattern: behindLogger(
      String.raw`Step (?<done>\d+) \| +[\d.]+s \| Loss (?<loss>${number}) \| Grad\. Norm (?<grad_norm>${number}) \| LR (?<lr>${number})`,
    ),
    unit: "step",
  },
  {
    // AReaL (stats_logger.py): `Epoch 1/10 Step 3/467 Train step 3/4670 done.`
    key: "areal",
    needles: [" Train step "],
    pattern: behindLogger(String.raw`Epoch \d+\/\d+ Step \d+\/\d+ Train step (?<done>\d+)\/(?<total>\d+) done\.`),
    unit: "step",
  },
  {
    // NeMo-RL (ppo.py): `========================= Step 3/467 =========================`
    key: "nemo-rl",
    needles: ["= Step \\d"],
    pattern: /^={10,60} Step (?<done>\d+)\/(?<total>\d+) ={10,60}\s*$/,
    unit: "step",
  },
  {
    // XTuner v1 (trainer.py): `Epoch 1 Step 2/1200 data_time: 0.0121 lr: 2.0e-06 time: 4.1213 … reduced_llm_loss: 1.87`
    key: "xtuner",
    needles: [" data_time: "],
    pattern: behindLogger(
      String.raw`(?:\[.{1,80}\] )?Epoch \d+ Step (?<done>\d+)\/(?<total>\d+) data_time: \S+ lr: (?<lr>${number}) time: (?<step_time_s>${number})(?:.{0,300}?reduced_llm_loss: (?<loss>${number}))?`,
    ),
    unit: "step",
  },
  {
    // CLU (periodic_actions.py): `Setting work unit notes: 5.2 steps/s, 0.8% (420/50000), ETA: 2h39m (…)`
    key: "clu",
    needles: ["Setting work unit notes: "],
    pattern: behindLogger(
      String.raw`Setting work unit notes: (?<rate>[\d.]+) steps\/s, [\d.]+% \((?<done>\d+)\/(?<total>\d+)\)(?:, ETA: (?<eta>[\dhms d]+))?`,
    ),
    unit: "step",
    rateUnit: "step/s",
  },
  {
    // TensorFlow's estimators: `INFO:tensorflow:loss = 0.5121, step = 200 (7.752 sec)`; TF-Slim: `global step 3: loss = 76.0000 (15.205 sec/step)`
    key: "tf-estimator",
    needles: [", step = "],
    pattern: /^(?:INFO:tensorflow:|tensorflow:)?loss = (?<loss>[\d.e+-]+|nan), step = (?<done>\d+) \([\d.]+ sec\)/,
    unit: "step",
  },
  {
    key: "tf-slim",
    needles: ["global step "],
    pattern:
      /^(?:INFO:tensorflow:|tensorflow:)?global step (?<done>\d+): loss = (?<loss>[\d.e+-]+|nan) \((?<step_time_s>[\d.]+) sec\/step\)/,
    unit: "step",
  },
  {
    // PaddleNLP and PaddleMIX: `global step 96 / 22140, loss: 1.780000, …`
    key: "paddle",
    needles: ["global step "],
    pattern: behindLogger(String.raw`global step (?<done>\d+) \/ (?<total>\d+), loss: (?<loss>${number})`),
    unit: "step",
  },
  {
    // PaddleSeg: `[TRAIN] epoch: 1, iter: 40/500, loss: 1.9000, lr: …, ips: 3.7425 samples/sec | ETA 00:03:16`
    key: "paddle",
    needles: ["[TRAIN] epoch"],
    pattern: behindLogger(
      String.raw`\[TRAIN\] epoch: \d+, iter: (?<done>\d+)\/(?<total>\d+), loss: (?<loss>${number}), lr: (?<lr>${number}).{0,300}?\| ETA (?<eta>(?:\d+ days?, )?[\d:]+)`,
    ),
    unit: "it",
  },
  {
    // PaddleOCR: `epoch: [2/500], global_step: 210, lr: 0.001000, loss: 29.000000, … eta: 1 day, 3:17:21, …`
    key: "paddle",
    needles: [", global_step: "],
    pattern: behindLogger(
      String.raw`epoch: \[\d+\/\d+\], global_step: (?<done>\d+), lr: (?<lr>${number}), (?:.{0,300}?, )?loss: (?<loss>${number}),(?:.{0,400}?\beta: (?<eta>(?:\d+ days?, )?[\d:]+))?`,
    ),
    unit: "step",
  },
  {
    // PaddleClas (train/utils.py): `[Train][Epoch 3/120][Iter: 20/5004]lr(PiecewiseDecay): 0.1, …, loss: 5.1, … eta: 1 day, 2:03:04`
    key: "paddle",
    needles: ["[Train][Epoch "],
    pattern: behindLogger(
      String.raw`\[Train\]\[Epoch \d+\/\d+\]\[Iter: (?<done>\d+)\/(?<total>\d+)\].{0,300}?\bloss: (?<loss>${number})(?:.{0,300}?\beta: (?<eta>(?:\d+ days?, )?[\d:]+))?`,
    ),
    unit: "it",
  },
  {
    // PyTorch's quickstart: `loss: 2.170545  [   64/60000]`
    key: "quickstart",
    needles: ["loss: \\d"],
    pattern: /^loss: (?<loss>[\d.]+|nan) {1,3}\[ *(?<done>\d+)\/ *(?<total>\d+)\]\s*$/,
    unit: "sample",
  },
  {
    // MONAI (stats_handler.py): `Epoch: 3/100, Iter: 12/40 -- train_loss: 0.4700`
    key: "monai",
    needles: [" -- train_loss: "],
    pattern: behindLogger(
      String.raw`Epoch: \d+\/\d+, Iter: (?<done>\d+)\/(?<total>\d+) -- train_loss: (?<loss>${number})`,
    ),
    unit: "it",
  },
  {
    // YOLOX (core/trainer.py): `epoch: 3/300, iter: 20/1849, mem: 5012Mb, iter_time: 0.412s, …, total_loss: 11.0, … lr: 1.2e-04, size: 640, ETA: 5:12:33`
    key: "yolox",
    needles: [", iter_time: "],
    pattern: behindLogger(
      String.raw`epoch: \d+\/\d+, iter: (?<done>\d+)\/(?<total>\d+), .{0,80}?iter_time: (?<step_time_s>${number})s, .{0,80}?total_loss: (?<loss>${number})(?:.{0,300}?ETA: (?<eta>(?:\d+ days?, )?[\d:]+))?`,
    ),
    unit: "it",
  },
  {
    // Coqui's Trainer (console_logger.py): `   --> TIME: 2026-03-02 10:03:01 -- STEP: 75/1201 -- GLOBAL_STEP: 75`
    key: "coqui",
    needles: [" -- GLOBAL_STEP: "],
    pattern: /^ *--> TIME: .{1,40} -- STEP: (?<done>\d+)\/(?<total>\d+) -- GLOBAL_STEP: \d+/,
    unit: "step",
  },
  {
    // icefall (zipformer/train.py): `Epoch 3, batch 150, loss[loss=0.3712, …], tot_loss[…]`
    key: "icefall",
    needles: [", loss[loss="],
    pattern: behindLogger(
      String.raw`Epoch \d+, batch (?<done>\d+), (?:global_batch_idx: \d+, .{0,60}?)?loss\[loss=(?<loss>${number})`,
    ),
    unit: "batch",
  },
  {
    // OpenNMT-py (statistics.py): `Step 200/100000; acc: 14.0; ppl:  59.2; xent: 4.1; lr: 0.00012; …`
    key: "opennmt",
    needles: ["; acc: "],
    pattern: behindLogger(
      String.raw`Step (?<done>\d+)\/ *(?<total>\d+); acc: +(?<acc>${number}); ppl: +(?<ppl>${number});(?:.{0,60}?lr: (?<lr>${number}))?`,
    ),
    unit: "step",
  },
  {
    // Marian (scheduler.h): `Ep. 1 : Up. 1500 : Sen. 360,121 : Cost 7.50000000 : …`
    key: "marian",
    needles: [" : Up. "],
    pattern: /^Ep\. \d+ : Up\. (?<done>[\d,]+) : Sen\. [\d,]+ : Cost (?<loss>[\d.]+|nan)/,
    unit: "step",
  },
  {
    // NeMo Automodel: `step 10 | epoch 0 | loss 0.6800 | grad_norm 1.5436 | lr 1.00e-05 | mem 24.90 GiB | …`
    key: "automodel",
    needles: [" | epoch \\d", " | grad_norm "],
    pattern: behindLogger(
      String.raw`step (?<done>\d+) \| epoch \d+ \| loss (?<loss>${number}) \| grad_norm (?<grad_norm>${number}) \| lr (?<lr>${number})`,
    ),
    unit: "step",
  },
  {
    // ms-swift (trainers/callback.py), where bars are off; the dictionary is read for its metrics, too:
    // `{'loss': 0.43, …, 'global_step/max_steps': '12/94', 'percentage': '12.77%', 'elapsed_time': '18m 26s', 'remaining_time': '2h 5m 59s'}`
    key: "ms-swift",
    needles: ["'global_step/max_steps': '"],
    pattern:
      /^\{'loss': (?<loss>[\d.]+|nan), 'grad_norm': (?<grad_norm>[\d.]+|nan), 'learning_rate': (?<lr>[\d.e+-]+), .{0,300}'global_step\/max_steps': '(?<done>\d+)\/(?<total>\d+)'(?:.{0,80}'elapsed_time': '(?<elapsed>[\dhms d]+)')?(?:, 'remaining_time': '(?<eta>[\dhms d]+)')?/,
    unit: "step",
  },
];

/** Trainers that print one regular line a step. */
export const moreTrainerFormats: readonly ProgressFormat[] = forms.map(lineFormat);
