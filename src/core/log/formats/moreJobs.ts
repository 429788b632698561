import type { ProgressFormat } from "./format";
import { behindLogger, lineFormat, type LineForm } from "./lineForm";

/** Each comment has the tool, where it was read, and a line. */
const forms: readonly LineForm[] = [
  {
    // XGBoost's evaluation of a round: `[20]	train-logloss:0.36121	eval-logloss:0.37001`
    key: "xgboost",
    needles: ["]\ttrain-", "]\tvalidation_", "]\teval-"],
    pattern: /^\[(?<done>\d+)\]\t(?:train|validation_\d+|eval|dtrain)-\w{1,40}:[\d.]+/,
    unit: "round",
  },
  {
    // LightGBM: `[100]	training's binary_logloss: 0.352331	valid_1's binary_logloss: 0.37`
    key: "lightgbm",
    needles: ["]\ttraining's ", "]\tvalid_", "]\tcv_agg"],
    pattern: /^\[(?<done>\d+)\]\t(?:training|valid_\w{1,20}|cv_agg)'s \w{1,40}: [\d.]+/,
    unit: "round",
  },
  {
    // CatBoost: `100:	learn: 0.4121412	test: 0.42	best: 0.42 (100)	total: 5.12s	remaining: 45.6s`
    key: "catboost",
    needles: [":\tlearn: "],
    pattern:
      /^(?<done>\d+):\tlearn: (?<loss>[\d.]+)\t(?:.{0,120}\t)?total: (?<elapsed>[\dhms. ]+)(?:\tremaining: (?<eta>[\dhms. ]+))?\s*$/,
    unit: "round",
  },
  {
    // joblib: `[Parallel(n_jobs=8)]: Done 104 out of 120 | elapsed:  2.1min remaining:   19.4s`
    key: "joblib",
    needles: ["[Parallel(n_jobs"],
    pattern: /^\[Parallel\(n_jobs=-?\d+\)\]: Done +(?<done>\d+) out of +(?<total>\d+) \|/,
    unit: "task",
  },
  {
    // Stable-Baselines3 (logger.py): `|    total_timesteps      | 61440       |`
    key: "sb3",
    needles: ["total_timesteps"],
    pattern: /^\| {1,8}total_timesteps {1,30}\| (?<done>\d+) {0,20}\|\s*$/,
    unit: "step",
  },
  {
    // CleanRL (ppo.py): `global_step=4096, episodic_return=[41.]`
    key: "cleanrl",
    needles: ["global_step="],
    pattern: /^global_step=(?<done>\d+), episodic_return=/,
    unit: "step",
  },
  {
    // RSL-RL (utils/logger.py): `                 Learning iteration 103/1500 `
    key: "rsl-rl",
    needles: ["Learning iteration "],
    pattern: /^ *Learning iteration (?<done>\d+)\/(?<total>\d+) *$/,
    unit: "it",
  },
  {
    // rl_games (a2c_common.py): `fps step: 41212 fps step and policy inference: 38211 fps total: 35112 epoch: 3/1000 frames: 196608`
    key: "rl-games",
    needles: ["fps step: "],
    pattern: /^fps step: \d+ .{0,120}epoch: (?<done>\d+)\/(?<total>\d+) frames: \d+/,
    unit: "epoch",
  },
  {
    // StyleGAN3 (training_loop.py): `tick 1     kimg 4.0      time 2m 11s       sec/tick 121.2   …`
    key: "stylegan",
    needles: [" sec/tick "],
    pattern: /^tick \d+ +kimg (?<done>[\d.]+) +time (?<elapsed>[\dhms d]+?) +sec\/tick /,
    unit: "kimg",
  },
  {
    // AutoGPTQ (modeling/_base.py): `Start quantizing layer 4/32`
    key: "gptq",
    needles: ["Start quantizing layer "],
    pattern: behindLogger(String.raw`Start quantizing layer (?<done>\d+)\/(?<total>\d+)`),
    unit: "layer",
  },
  {
    // TGI (utils/hub.py): `Download: [1/30] -- ETA: 0:14:30`
    key: "tgi",
    needles: ["Download: [\\d"],
    pattern: behindLogger(String.raw`Download: \[(?<done>\d+)\/(?<total>\d+)\] -- ETA: (?<eta>[\d:]+)`),
    unit: "file",
  },
  {
    // datatrove (executor/local.py): `5/100 tasks completed.`
    key: "datatrove",
    needles: [" tasks completed."],
    pattern: /^(?<done>\d+)\/(?<total>\d+) tasks completed\./,
    unit: "task",
  },
  {
    // ColabFold (batch.py): `Query 2/120: sp_P12346 (length 311)`
    key: "colabfold",
    needles: [" (length "],
    pattern: /^(?:\d{4}-\d\d-\d\d \S{1,20} )?Query (?<done>\d+)\/(?<total>\d+): \S{1,200} \(length \d+\)/,
    unit: "query",
  },
  {
    // snakemake (logging.py): `4 of 13 steps (31%) done`
    key: "snakemake",
    needles: [" steps ("],
    pattern: /^(?<done>\d+) of (?<total>\d+) steps \(\d+%\) done\s*$/,
    unit: "job",
  },
  {
    // CycleGAN and pix2pix: `End of epoch 1 / 200 	 Time Taken: 91 sec`
    key: "cyclegan",
    needles: ["End of epoch "],
    pattern: /^End of epoch (?<done>\d+) \/ (?<total>\d+) \t Time Taken: [\d.]+ sec/,
    unit: "epoch",
  },
  {
    // tqdm_loggable: `Progress on:train 120it/10.0kit rate:1.2it/s remaining:2:17:13 elapsed:01:40 postfix:loss=7.02`
    key: "tqdm-loggable",
    needles: ["Progress on:"],
    pattern:
      /(?:^|:: )Progress on:.{0,120}? (?<done>[\d.]+[kMG]?)it\/(?<total>[\d.]+[kMG]?)it rate:(?<rate>[\d.]+)it\/s remaining:(?<eta>[\d:]+) elapsed:(?<elapsed>[\d:]+)/,
    unit: "it",
    rateUnit: "it/s",
  },
  {
    // llama.cpp's fine-tuning (ggml-opt.cpp): `train: [==>   ] data=0000400/0002000 loss=2.90000±0.01000 acc=31.20±0.20% t=00:06:40 ETA=00:26:40`
    key: "ggml-opt",
    needles: ["] data=\\d"],
    pattern:
      /^train: \[[^\]]{0,80}\] data=(?<done>\d+)\/(?<total>\d+) loss=(?<loss>[\d.]+|nan)\S* (?:acc=\S+ )?t=(?<elapsed>[\d:]+) ETA=(?<eta>[\d:]+)/,
    unit: "sample",
  },
  {
    // fastText (fasttext.cc): `Progress:  12.3% words/sec/thread:   41210 lr:  0.049950 avg.loss:  4.121210 ETA:   2h41m 9s`
    key: "fasttext",
    needles: ["% words/sec/thread"],
    pattern:
      /^Progress: +(?<percent>[\d.]+)% words\/sec\/thread: +\d+ lr: +(?<lr>[\d.]+) avg\.loss: +(?<loss>[\d.]+|nan)(?: ETA: +(?<eta>[\dhms d]+))?/,
    unit: "",
  },
  {
    // gensim (word2vec.py): `EPOCH 0 - PROGRESS: at 12.31% examples, 812121 words/s, in_qsize 15, out_qsize 0`
    key: "gensim",
    needles: [" - PROGRESS: at "],
    pattern: behindLogger(String.raw`EPOCH \d+ - PROGRESS: at (?<percent>[\d.]+)% examples, `),
    unit: "",
  },
  {
    // whisper.cpp (cli.cpp): `whisper_print_progress_callback: progress =  10%`
    key: "whisper-cpp",
    needles: ["whisper_print_progress"],
    pattern: /^whisper_print_progress_callback: progress = +(?<percent>\d+)%/,
    unit: "",
  },
];

/** Boosting, reinforcement learning, pipelines: jobs that print one regular line a step. */
export const moreJobFormats: readonly ProgressFormat[] = forms.map(lineFormat);
