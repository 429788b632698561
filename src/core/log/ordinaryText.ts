import { isDigit } from "./marks";

/** What logs mostly hold and nobody asks about: lines of servers, trainers, downloads and data jobs, prose, code. */
const lines = [
  'INFO:     127.0.0.1:50122 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
  'INFO:     10.0.3.17:48802 - "GET /health HTTP/1.1" 200 OK',
  "(APIServer pid=2114) INFO 09-28 15:47:02 [logger.py:42] Received request chatcmpl-4f2a9c: prompt: 'What is the sum of all numbers?', params: SamplingParams(n=1, presence_penalty=0.0, frequency_penalty=0.0, repetition_penalty=1.0, temperature=0.7, top_p=0.95, top_k=20, min_p=0.0, seed=None, stop=[], stop_token_ids=[], ignore_eos=False, max_tokens=2048, min_tokens=0, logprobs=None, skip_special_tokens=True, error_on_empty=False), prompt_token_ids: None, lora_request: None.",
  "INFO 05-14 04:10:01 [async_llm.py:269] Added request chatcmpl-8f31b7. INFO 05-14 04:10:02 [engine.py:317] Aborted request cmpl-77.",
  "INFO 05-14 04:10:01 [loggers.py:127] Engine 000: Avg prompt throughput: 404.0 tokens/s, Avg generation throughput: 500.0 tokens/s, Running: 12 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.1%, Prefix cache hit rate: 41.0%",
  "(EngineCore_DP0 pid=20290) INFO 09-28 15:47:20 [core.py:654] Waiting for init message from front-end.",
  "{'loss': 1.3021, 'grad_norm': 0.8127, 'learning_rate': 9.1e-06, 'epoch': 1.71} {'eval_loss': 1.4, 'eval_runtime': 15.4, 'eval_samples_per_second': 516.5}",
  " 62%|██████▎   | 314/500 [00:31<00:58,  9.14it/s]  97%|█████████▋| 485/500 [12:36<00:43,  1.06s/it] Epoch 3:  18%|█▊        | 119/650 [00:09<01:19, 37.85it/s, loss=2.31, v_num=4]",
  "model-00003-of-00017.safetensors:  45%|████▌     | 2.21G/4.92G [00:41<00:39, 68.3MB/s] Fetching 17 files:  12%|█▏        | 2/17 [02:10<16:20, 65.4s/it]",
  "Progress: 310/25000 (0 errors), 1.5 req/s, avg completion: 268 tokens, elapsed: 206s",
  "step 1200/30000 | loss 2.9431 | lr 3.00e-04 | grad norm 1.21 | tokens/s 41,212 | mfu 38.2% | time/step 0.83s | mem 61.2GB",
  " iteration     1200/  500000 | consumed samples:       307200 | elapsed time per iteration (ms): 812.4 | learning rate: 1.500E-04 | global batch size:   256 | lm loss: 2.412E+00 |",
  "2026-11-02 10:00:20,686 - datagen.writer - DEBUG - flushed 24 rows to /data/out/shard-32.jsonl (0 errors so far)",
  "2026-11-02 10:00:20,123 - INFO - worker 3: wrote batch 412 to part-00012.parquet, 4096 rows, queue size 17, 0 failed, 0 skipped, retry 0",
  "2026-11-02 10:00:21.402 | DEBUG    | pipeline.reader:read:88 - opened file /mnt/data/raw/train-00412-of-01024.json, 18233 documents, 41 MB in 0.8 seconds",
  "[2026-11-02 10:00:21,004] [INFO] [logging.py:96:log_dist] [Rank 0] step=1200, skipped=0, lr=[9.1e-06], mom=[(0.9, 0.95)]",
  "/opt/env/lib/python3.12/site-packages/torch/utils/checkpoint.py:437: UserWarning: the default of use_reentrant will change in a later version, please set it explicitly.",
  "/usr/lib/python3/dist-packages/torch/nn/functional.py:288: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead.",
  '  File "/home/user/pipe/train.py", line 203, in <module>\n    return self._call_impl(*args, **kwargs)\n    output = model(input_ids, attention_mask=mask)',
  "W1201 21:03:49.099000 703 torch/distributed/run.py:774] *****************************************",
  "[rank0]:[W818 03:43:43.797 ProcessGroupNCCL.cpp:1496] Warning: see https://pytorch.org/docs/stable/distributed.html for more information",
  "node17:12345:12399 [0] NCCL INFO Channel 00/32 : 0 1 2 3 4 5 6 7 comm 0x55d0 rank 0 nranks 8 cudaDev 0 busId 1b000 via P2P/CUMEM/read",
  "Loading checkpoint shards: Saving model checkpoint to ./output/checkpoint-500 Configuration saved in ./output/checkpoint-500/config.json Model weights saved in model.safetensors tokenizer config file saved in tokenizer_config.json",
  "Using device: cuda:0, dtype: torch.bfloat16, memory: 12.41 GiB used, 67.2 GiB free, number of parameters: 8,030,261,248, max length 4096, batch size 8, num workers 4, shape [8, 4096]",
  "wandb: Run data is saved locally in /home/user/wandb/run-20261102_100020-abc. wandb: View project at https://wandb.ai/team/project",
  "HTTP request sent, awaiting response... 200 OK Length: 4920734016 (4.6G) [application/octet-stream] Saving to: 'model.bin' 10.0.0.1 - - \"GET /metrics HTTP/1.1\" 200 -",
  "[sample 5983] When the answer is not in the text, the model explains that it does not know; then it is asked again, with another question, and each of these answers is taken as a proof of the second case or of none at all. It was over before she could read all of it again, so he sums up the history in terms that matter to them.",
  "You are a helpful assistant. Let me think step by step: first we have to find out how many of them there are, and why. Therefore the result should be about 42 percent. I hope this helps! If you have any other questions, feel free to ask. The user asks for a list of things to do on a rainy day; here are some ideas that might work for you and your family.",
  '{"id": "item-1042", "messages": [{"role": "user", "content": "Write a short story about a dog"}, {"role": "assistant", "content": "Once upon a time"}], "score": 0.71, "finish_reason": "stop", "usage": {"prompt_tokens": 31, "completion_tokens": 412}}',
  'def main(args): for i in range(10): print(i) import numpy as np x = np.zeros((3, 4)) if __name__ == "__main__": return None assert value is True',
];

/** Stands for any digit in a needle; no log holds this byte. */
export const anyDigit = 0xff;

/** For each length of up to four bytes: how often each part is there; digits also as `anyDigit`. */
let counts: readonly Map<number, number>[] | undefined;
let total = 1;

/**
 * The share of an ordinary log's words, at any place in it, that are these bytes; 0 to 1.
 *
 * @param word up to four bytes, the first one lowest; signed
 */
export function ordinaryShare(word: number, length: number): number {
  counts ??= countParts();
  const count = counts[length]?.get(word) ?? 0;
  if (count > 0) return count / total;
  // A digit that is not there is as likely as the others at its place.
  for (let at = 0; at < 8 * length; at += 8)
    if (isDigit((word >>> at) & 0xff)) return 0.1 * ordinaryShare(word | (anyDigit << at), length);
  if (length === 1) return 0.1 / total;
  // `abcd` is told by how often `abc` is, and by what of `bc` becomes `bcd`.
  const middle = length === 2 ? 1 : ordinaryShare(lower(word >>> 8, length - 2), length - 2);
  return (ordinaryShare(lower(word, length - 1), length - 1) * ordinaryShare(word >>> 8, length - 1)) / middle;
}

function lower(word: number, bytes: number): number {
  return word & ((1 << (8 * bytes)) - 1);
}

function countParts(): readonly Map<number, number>[] {
  const found = [0, 1, 2, 3, 4].map(() => new Map<number, number>());
  const bytes = new TextEncoder().encode(lines.join("\n"));
  total = bytes.length;
  for (let at = 0; at < bytes.length; at++) {
    let word = 0;
    let likewise = 0;
    for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
      const byte = bytes[at + length - 1] ?? 0;
      const shift = 8 * (length - 1);
      word |= byte << shift;
      likewise |= (isDigit(byte) ? anyDigit : byte) << shift;
      const parts = found[length];
      parts?.set(word, (parts.get(word) ?? 0) + 1);
      if (likewise !== word) parts?.set(likewise, (parts.get(likewise) ?? 0) + 1);
    }
  }
  return found;
}
