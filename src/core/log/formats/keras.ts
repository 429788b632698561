import { parseDuration, parseMetric } from "../quantities";
import { present, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

/** Keras 2 and 3: bars of an epoch, and the epochs. */
export const kerasFormats: readonly ProgressFormat[] = [
  {
    // `Epoch 1/10`, the outer counter
    key: "keras",
    trigger: "Epoch ",
    read: ({ body }) => {
      const match = /^Epoch (\d+)\/(\d+)\s*$/.exec(body);
      return match === null ? undefined : { done: Number(match[1]), total: Number(match[2]), unit: "epoch" };
    },
  },
  {
    // Keras 3: ` 400/1500 ━━━━━ 1:23 75ms/step - accuracy: 0.5521 - loss: 1.2711`; on the last row the time is elapsed
    key: "keras",
    trigger: "/step",
    needles: ["s/step"],
    read: ({ body }) => {
      const match = /^ *(\d+)\/(?:(\d+) [━ ]{5,80}|Unknown) ?(\d[\d:]*s?) (\d+(?:s|ms|us)\/step.*)$/u.exec(
        body.trimEnd(),
      );
      if (match === null) return undefined;
      const [, done, total, time = "", rest] = match;
      return reading({
        done,
        total,
        rest,
        ...(done === total || total === undefined ? { elapsed: time } : { eta: time }),
      });
    },
  },
  {
    // verbose=2, a line an epoch: `1500/1500 - 112s - 74ms/step - accuracy: 0.6120 - loss: 1.0712`
    key: "keras",
    trigger: "s - ",
    needles: ["s/step", "s - loss: ", " - loss: "],
    read: ({ body }) => {
      const match = /^(\d+)\/(\d+) - (\d+s) - (.*)$/.exec(body.trimEnd());
      if (match === null) return undefined;
      const [, done, total, elapsed, rest] = match;
      return reading({ done, total, elapsed, rest });
    },
  },
  {
    // Keras 2, the last state: `60000/60000 [==============================] - 15s 250us/step - loss: 0.1021`
    key: "keras",
    trigger: "=] - ",
    needles: ["=====] - "],
    read: ({ body }) => {
      const match = /^ *(\d+)\/(\d+) \[={10,80}\] - (\S+)((?: \d+[mu]?s\/(?:step|sample))?(?: - .*)?)$/.exec(
        body.trimEnd(),
      );
      if (match === null) return undefined;
      const [, done, total, elapsed, rest] = match;
      return reading({ done, total, elapsed, rest });
    },
  },
  {
    // Keras 2: ` 7680/60000 [==>...........................] - ETA: 12s - loss: 1.0211 - acc: 0.6893`
    key: "keras",
    trigger: " - ETA: ",
    read: ({ body }) => {
      const match = /^ *(\d+)\/(\d+) \[[=>.]{10,80}\] - ETA: (\S+)(.*)$/.exec(body.trimEnd());
      if (match === null) return undefined;
      const [, done, total, eta, rest] = match;
      return reading({ done, total, eta, rest });
    },
  },
];

interface Row {
  readonly done?: string | undefined;
  readonly total?: string | undefined;
  readonly elapsed?: string | undefined;
  readonly eta?: string | undefined;
  /** ` - 75ms/step - accuracy: 0.5521 - loss: 1.2711` */
  readonly rest?: string | undefined;
}

function reading({ done, total, elapsed, eta, rest = "" }: Row): FormatReading {
  const seconds = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : parseDuration(text);
  return present({
    done: Number(done),
    total: total === undefined ? undefined : Number(total),
    unit: "step",
    elapsed_s: seconds(elapsed),
    eta_s: seconds(eta),
    metrics: readMetrics([...dashPairs(rest), ...stepTime(rest)]),
  });
}

/** `accuracy: 0.5521 - loss: 1.2711` */
function dashPairs(text: string): [string, string][] {
  return text.split(" - ").flatMap((part): [string, string][] => {
    const cut = part.indexOf(": ");
    const value = part.slice(cut + 2);
    return cut > 0 && parseMetric(value) !== undefined ? [[part.slice(0, cut).trim(), value]] : [];
  });
}

/** `75ms/step` */
function stepTime(text: string): [string, string][] {
  const match = /(?:^| )(\d+)(s|ms|us)\/step(?= |$)/.exec(text);
  if (match === null) return [];
  const [, per = "", unit] = match;
  return [["step_time_s", String(Number(per) / (unit === "ms" ? 1e3 : unit === "us" ? 1e6 : 1))]];
}
