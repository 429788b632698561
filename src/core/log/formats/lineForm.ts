import { parseCount, parseDuration } from "../quantities";
import { present, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

/**
 * A line of a trainer or a job, as one pattern. Its named groups are what is read: `done`, `total`, `eta` and `elapsed`
 * (as times), `rate`; every other group is a metric of that name.
 */
export interface LineForm {
  readonly key: string;
  readonly needles: readonly string[];
  readonly pattern: RegExp;
  readonly unit: string;
  readonly rateUnit?: string;
  readonly aux?: true;
}

/** Loggers that are no prefix of their own; a form that stands behind them says enough to be known anywhere. */
const front = String.raw`^(?:[^"'\x60]{0,160}?[\s\]>:])?`;
/** A number, or `nan`. */
export const number = String.raw`[\d.]+(?:e[+-]?\d+)?|nan`;
/** A pattern that begins the line, or stands behind such a logger. */
export const behindLogger = (text: string): RegExp => new RegExp(front + text);

const own = new Set(["done", "total", "eta", "elapsed", "rate"]);

/** The format that a line's form stands for. */
export function lineFormat(form: LineForm): ProgressFormat {
  return { key: form.key, trigger: "", needles: form.needles, read: ({ body }) => readForm(body, form) };
}

function readForm(body: string, { pattern, unit, rateUnit, aux }: LineForm): FormatReading | undefined {
  const groups = pattern.exec(body)?.groups;
  if (groups === undefined) return undefined;
  const { done, total, eta, elapsed, rate } = groups;
  const metrics = Object.entries(groups).filter(
    ([name, value]: readonly [string, string | undefined]) => !own.has(name) && value !== undefined,
  );
  return present({
    done: count(done),
    total: count(total),
    unit: done === undefined ? undefined : unit,
    rate: count(rate),
    rate_unit: rate === undefined ? undefined : rateUnit,
    eta_s: eta === undefined ? undefined : parseDuration(eta),
    elapsed_s: elapsed === undefined ? undefined : parseDuration(elapsed),
    metrics: readMetrics(metrics),
    role: aux === true ? "aux" : undefined,
  });
}

function count(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseCount(text.replaceAll(",", ""), 1000);
}
