import { parseCount, parseDuration } from "../quantities";
import { present, type FormatReading } from "./format";

/** A rate or size in bytes; k, M, G of this tool mean powers of `base`. */
export function size(text: string | undefined, base = 1024): number | undefined {
  return text === undefined ? undefined : parseCount(text.replace(/\s/g, ""), base);
}

/** A time of a download as seconds. */
export function seconds(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseDuration(text);
}

interface ByteFields {
  readonly done?: number | undefined;
  readonly total?: number | undefined;
  readonly rate?: number | undefined;
  readonly elapsed?: number | undefined;
  readonly eta?: number | undefined;
  readonly metrics?: Readonly<Record<string, number | undefined>>;
}

/** A state of a transfer; what is undefined is left out. */
export function bytes({ done, total, rate, elapsed, eta, metrics }: ByteFields): FormatReading {
  const known = Object.entries(metrics ?? {}).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return present({
    done,
    total,
    unit: "B",
    rate,
    rate_unit: rate === undefined ? undefined : "B/s",
    elapsed_s: elapsed,
    eta_s: eta,
    metrics: known.length === 0 ? undefined : Object.fromEntries(known),
  });
}
