"""Fits the table by which src/core/session/estimate.ts corrects its forecasts, and writes it.

    node scripts/run.mjs scripts/etaRuns.ts 1 40000 /tmp/runs1     (as many files as wanted, each with its own seed)
    python3 scripts/etaFit.py /tmp/runs1 [/tmp/runs2 ...]          (needs numpy; minutes)

A network of two small layers is fitted to composed runs only. No run that the estimator is scored on is read here.
The loss of the point is the relative error of the time left, flattened beyond a half, so that the usual error counts
and not the rare disaster; that of the range is the pinball loss of its two ends (10 % and 90 %).
"""

import sys

import numpy as np

INPUTS = 45  # of estimateInputs.ts
RECORD = INPUTS + 5  # of etaRuns.ts
UNITS = [32, 16]
EPOCHS = 30
BATCH = 1024
RATE = 2e-3
DECAY = 1e-5
FLAT = 0.5
REGULAR, DOUBTFUL = 0.003, 0.5  # of estimate.ts
ERROR = 18  # the input that says how wrong the methods were
OUT = "src/core/session/estimateWeights.ts"

HEAD = """// Written by scripts/etaFit.py, which says what it is fitted to. Not for editing by hand.

interface Layer {
  /** Thousandths, all weights of one unit after those of the one before. */
  readonly weights: readonly number[];
  /** Thousandths, one for each unit. */
  readonly offsets: readonly number[];
}

"""


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def forward(x, weights, offsets):
    values = [x]
    for i, (w, b) in enumerate(zip(weights, offsets)):
        z = values[-1] @ w + b
        values.append(np.tanh(z) if i < len(weights) - 1 else z)
    return values


def gradient(said, ahead, trust):
    """Of the loss, by the three outputs; and the mean relative error."""
    work, pauses, under_way, silence = ahead.T[:4]
    change = np.clip(said[:, 0], -2, 2)
    moved = work * np.exp(change * trust)
    eta = np.maximum(moved + pauses - under_way, 0)
    off = eta - 1
    by = np.zeros_like(said)
    slope = np.tanh(off / 0.02) / (1 + np.abs(off) / FLAT) ** 2
    by[:, 0] = slope * moved * trust * (eta > 0) * (np.abs(said[:, 0]) < 2)
    least = np.maximum(eta, 1e-3)
    truth_below = np.log(least)
    truth_above = np.log(np.maximum((1 - silence) / least, 1e-3))
    for column, truth in ((1, truth_below), (2, truth_above)):
        too_narrow = truth > softplus(said[:, column])
        by[:, column] = 0.3 * np.where(too_narrow, -0.9, 0.1) * sigmoid(said[:, column])
    return by / len(said), np.minimum(np.abs(off), 1).mean()


def fit(x, ahead, trust):
    rng = np.random.default_rng(1)
    sizes = [INPUTS, *UNITS, 3]
    weights = [rng.normal(0, 1 / np.sqrt(a), (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
    offsets = [np.zeros(b, np.float32) for b in sizes[1:]]
    weights[-1] *= 0.1
    offsets[-1][1:] = -1
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in weights + offsets]
    steps = EPOCHS * (len(x) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(x))
        errors = []
        for start in range(0, len(x) - BATCH + 1, BATCH):
            some = order[start : start + BATCH]
            values = forward(x[some], weights, offsets)
            by, error = gradient(values[-1], ahead[some], trust[some])
            errors.append(error)
            by_weights, by_offsets = [], []
            for i in reversed(range(len(weights))):
                by_weights.insert(0, values[i].T @ by + DECAY * weights[i])
                by_offsets.insert(0, by.sum(0))
                if i > 0:
                    by = (by @ weights[i].T) * (1 - values[i] ** 2)
            step += 1
            rate = RATE * min(1, step / 200) * 0.5 * (1 + np.cos(np.pi * step / steps)) + 1e-6
            for p, (m, v), g in zip(weights + offsets, moments, by_weights + by_offsets):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        print(f"epoch {epoch + 1} of {EPOCHS}: mean error {np.mean(errors):.4f}", flush=True)
    return weights, offsets


def numbers(values, digits=0):
    return "[" + ", ".join(f"{value:.{digits}f}" if digits else str(round(float(value))) for value in values) + "]"


def main():
    data = np.concatenate([np.fromfile(f, np.float32).reshape(-1, RECORD) for f in sys.argv[1:]])
    center = data[:, :INPUTS].mean(0).round(4)
    scale = (data[:, :INPUTS].std(0) + 1e-3).round(4)
    x = np.clip((data[:, :INPUTS] - center) / scale, -4, 4).astype(np.float32)
    ahead = data[:, INPUTS : INPUTS + 4]
    uneven = data[:, INPUTS + 4] ** 2
    trust = uneven / (uneven + REGULAR**2) / (1 + (data[:, ERROR] / DOUBTFUL) ** 8)
    weights, offsets = fit(x, ahead, trust)
    parts = [
        f"export const center: readonly number[] = {numbers(center, 4)};\n",
        f"export const scale: readonly number[] = {numbers(scale, 4)};\n",
        "export const layers: readonly Layer[] = [\n",
        *(
            f"  {{ weights: {numbers(1000 * w.T.ravel())}, offsets: {numbers(1000 * b)} }},\n"
            for w, b in zip(weights, offsets)
        ),
        "];\n",
    ]
    with open(OUT, "w") as out:
        out.write(HEAD + "".join(parts))
    print(f"{len(data)} askings; wrote {OUT}: now npx prettier --write {OUT}")


main()
