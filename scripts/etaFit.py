"""Fits the table by which src/core/session/estimate.ts corrects its forecasts, and writes it.

    node scripts/run.mjs scripts/etaRuns.ts 1 40000 /tmp/runs1     (as many files as wanted, each with its own seed)
    python3 scripts/etaFit.py 280 /tmp/runs1 [/tmp/runs2 ...]      (needs torch; for 280 seconds)

The shipped table took 500,000 runs and 280 seconds of a large GPU; with a tenth of either it is half a point worse.
A network is fitted to composed runs only. No run that the estimator is scored on is read here.
The loss of the point is the relative error of the time left, flattened so that the usual error counts and not the rare
disaster, and counted most at those askings of a run that are near its middle error, since a run is scored by its
median; that of the range is the pinball loss of its two ends (10 % and 90 %).
"""

import base64
import sys
import time

import numpy as np
import torch
from torch.nn.functional import silu, softplus

INPUTS = 112  # of estimateInputs.ts
RECORD = INPUTS + 5  # of etaRuns.ts
ASKINGS = 12  # of etaRuns.ts
UNITS = [128] * 4
RUNS_A_STEP = 512
RATE = 2e-3
FLAT = 0.3
REGULAR, DOUBTFUL = 0.003, 0.5  # of estimate.ts
ERROR = 18  # the input that says how wrong the methods were
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def network(x, weights, offsets):
    """Layers of one width add to what comes from below: so deep a network is fitted more easily."""
    for i, (w, b) in enumerate(zip(weights, offsets)):
        sums = x @ w + b
        if i == len(weights) - 1:
            return sums
        x = silu(sums) + (x if i > 0 else 0)


def loss(records, center, scale, weights, offsets):
    """Of some runs, all askings of each: (runs, ASKINGS, RECORD)."""
    known = torch.isfinite(records[..., 0])
    records = torch.nan_to_num(records)
    said = network(((records[..., :INPUTS] - center) / scale).clamp(-4, 4), weights, offsets)
    work, pauses, under_way, silence, uneven = records[..., INPUTS:].unbind(-1)
    trust = uneven**2 / (uneven**2 + REGULAR**2) / (1 + (records[..., ERROR] / DOUBTFUL) ** 8)
    eta = torch.relu(work * torch.exp(said[..., 0].clamp(-2, 2) * trust) + pauses - under_way)
    off = (eta - 1).abs()
    error = torch.where(known, off.detach(), 1.0)
    rank = error.argsort(-1).argsort(-1) / (ASKINGS - 1)
    middle = 0.25 + 1.5 * torch.exp(-0.5 * ((rank - 0.5) / 0.22) ** 2)
    point = off / (1 + off / FLAT) * middle
    least = eta.detach().clamp(min=1e-3)
    below = torch.log(least) - softplus(said[..., 1])
    above = torch.log(((1 - silence) / least).clamp(min=1e-3)) - softplus(said[..., 2])
    ends = sum(torch.maximum(0.9 * d.clamp(-2, 2), -0.1 * d.clamp(-2, 2)) for d in (below, above))
    return ((point + 0.2 * ends) * known).mean(), error.median(-1).values.mean()


def fit(data, center, scale, seconds):
    torch.manual_seed(1)
    sizes = [INPUTS, *UNITS, 3]
    weights = [torch.randn(a, b, device=DEVICE) / a**0.5 for a, b in zip(sizes, sizes[1:])]
    offsets = [torch.zeros(b, device=DEVICE) for b in sizes[1:]]
    weights[-1] *= 0.1
    offsets[-1][1:] = -1
    fitted = [p.requires_grad_() for p in weights + offsets]
    smooth = [p.detach().clone() for p in fitted]
    rule = torch.optim.AdamW(fitted, lr=RATE, weight_decay=1e-3, betas=(0.9, 0.99))
    begin, step = time.time(), 0
    while (through := (time.time() - begin) / seconds) < 1:
        rule.param_groups[0]["lr"] = RATE * min(1, step / 500) * 0.5 * (1 + np.cos(np.pi * through)) + 1e-6
        some = data[torch.randint(len(data), (RUNS_A_STEP,))].to(DEVICE)
        value, error = loss(some, center, scale, weights, offsets)
        rule.zero_grad()
        value.backward()
        rule.step()
        step += 1
        with torch.no_grad():
            torch._foreach_lerp_(smooth, [p.detach() for p in fitted], 1e-3)
        if step % 1000 == 0:
            print(f"step {step}: mean of medians {100 * error:.1f} %", flush=True)
    values = [p.cpu().numpy() for p in smooth]
    return values[: len(weights)], values[len(weights) :]


# -- Writing

OUT = "src/core/session/estimateWeights.ts"
HEAD = """// Written by scripts/etaFit.py, which says what it is fitted to. Not for editing by hand.

interface Layer {
  /** Bytes with a sign, in base64: all weights of one unit after those of the one before. */
  readonly weights: string;
  /** What a unit's weights are counted in, and its offset; both in millionths. */
  readonly steps: readonly number[];
  readonly offsets: readonly number[];
}

"""


def numbers(values, digits=0):
    return "[" + ", ".join(f"{value:.{digits}f}" if digits else str(round(float(value))) for value in values) + "]"


def write(center, scale, weights, offsets):
    parts = [
        f"export const center: readonly number[] = {numbers(center, 4)};\n",
        f"export const scale: readonly number[] = {numbers(scale, 4)};\n",
        "export const layers: readonly Layer[] = [\n",
    ]
    for w, b in zip(weights, offsets):
        steps = np.ceil(np.abs(w).max(0) / 127 * 1e6) + 1
        signed = np.round(w.T * 1e6 / steps[:, None]).astype(np.int8)
        text = base64.b64encode(signed.tobytes()).decode()
        parts.append(f'  {{ weights: "{text}", steps: {numbers(steps)}, offsets: {numbers(1e6 * b)} }},\n')
    with open(OUT, "w") as out:
        out.write(HEAD + "".join(parts) + "];\n")


# -- End of writing


def main():
    files = [np.fromfile(f, np.float32) for f in sys.argv[2:]]
    run = ASKINGS * RECORD
    data = np.concatenate([f[: len(f) // run * run].reshape(-1, ASKINGS, RECORD) for f in files])
    inputs = data.reshape(-1, RECORD)[:2_000_000, :INPUTS]
    inputs = inputs[np.isfinite(inputs[:, 0])]
    center = inputs.mean(0).round(4)
    scale = (inputs.std(0) + 1e-3).round(4)
    on_device = [torch.from_numpy(values).to(DEVICE) for values in (center, scale)]
    write(center, scale, *fit(torch.from_numpy(data), *on_device, float(sys.argv[1])))
    print(f"{len(data)} runs; wrote {OUT}: now npx prettier --write {OUT}")


if __name__ == "__main__":
    main()
