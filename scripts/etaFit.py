"""Fits the table by which src/core/session/estimate.ts corrects its forecasts, and writes it.

    node scripts/run.mjs scripts/etaRuns.ts wide 1 40000 /tmp/wide1     (as many files as wanted, each with its own seed)
    node scripts/run.mjs scripts/etaRuns.ts usual 2 40000 /tmp/usual2
    python3 scripts/etaFit.py 310 --usual /tmp/usual* --wide /tmp/wide*     (needs torch; for 310 seconds)

The shipped table took 662,000 runs and 310 seconds of a large GPU, shared with six other fits. Of 16,000 runs a fit of
a minute without a GPU is a point worse.
The loss of the point is the relative error of the time left, flattened so that the usual error counts and not the rare
disaster, and counted most at those askings of a run that are near its middle error, since a run is scored by its
median; that of the range is the pinball loss of its two ends (10 % and 90 %).
"""

import argparse
import base64
import time

import numpy as np
import torch
from torch.nn.functional import silu, softplus

INPUTS = 112  # of estimateInputs.ts
RECORD = INPUTS + 5  # of etaRuns.ts
ASKINGS = 19  # of etaRuns.ts
UNITS = [128] * 4
RUNS_A_STEP = 1024
USUAL = 0.6  # the share of usual runs in a step
RATE = 2e-3
FLAT = 0.3
# As in estimate.ts, but that doubt begins later: so that what is just doubtful there is known well.
REGULAR, DOUBTFUL = 0.003, 0.6
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
    middle = 0.1 + 1.5 * torch.exp(-0.5 * ((rank - 0.5) / 0.12) ** 2)
    point = off / (1 + off / FLAT) * middle
    least = eta.detach().clamp(min=1e-3)
    below = torch.log(least) - softplus(said[..., 1])
    above = torch.log(((1 - silence) / least).clamp(min=1e-3)) - softplus(said[..., 2])
    ends = sum(torch.maximum(0.9 * d.clamp(-2, 2), -0.1 * d.clamp(-2, 2)) for d in (below, above))
    return ((point + 0.2 * ends) * known).mean(), error.median(-1).values.mean()


def some_of(data, count):
    return data[torch.randint(len(data), (count,))].to(DEVICE)


def fit(usual, wide, center, scale, seconds):
    torch.manual_seed(3)
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
        share = round(USUAL * RUNS_A_STEP)
        some = torch.cat([some_of(usual, share), some_of(wide, RUNS_A_STEP - share)])
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


def runs_of(names):
    run = ASKINGS * RECORD
    files = [np.fromfile(name, np.float32) for name in names]
    return np.concatenate([f[: len(f) // run * run].reshape(-1, ASKINGS, RECORD) for f in files])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("seconds", type=float)
    arguments.add_argument("--usual", nargs="+", required=True)
    arguments.add_argument("--wide", nargs="+", required=True)
    given = arguments.parse_args()
    usual, wide = runs_of(given.usual), runs_of(given.wide)
    inputs = np.concatenate([usual[:100_000], wide[:100_000]]).reshape(-1, RECORD)[:, :INPUTS]
    inputs = inputs[np.isfinite(inputs[:, 0])]
    center = inputs.mean(0).round(4)
    scale = (inputs.std(0) + 1e-3).round(4)
    on_device = [torch.from_numpy(values).to(DEVICE) for values in (center, scale)]
    write(center, scale, *fit(torch.from_numpy(usual), torch.from_numpy(wide), *on_device, given.seconds))
    print(f"{len(usual)} and {len(wide)} runs; wrote {OUT}: now npx prettier --write {OUT}")


if __name__ == "__main__":
    main()
