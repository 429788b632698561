/** Factors of the sizes that a session file may use: decimal as disks are sold, binary with an `i`. */
const sizeFactors: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["b", 1],
  ["kb", 1e3],
  ["mb", 1e6],
  ["gb", 1e9],
  ["tb", 1e12],
  ["kib", 2 ** 10],
  ["mib", 2 ** 20],
  ["gib", 2 ** 30],
  ["tib", 2 ** 40],
]);

/** What a size looks like: `1.5 GB`, `300 MiB`, `12`. Also published in the JSON Schema. */
export const sizePattern = /^\s*\d{1,15}(\.\d{1,6})?\s*([kKMGT][iI]?)?[bB]?\s*$/;

/** What a duration looks like: `90s`, `15m`, `1h30m`, `2 d`. Also published in the JSON Schema. */
export const durationPattern = /^\s*(\d{1,9}(\.\d{1,3})?\s*[smhdSMHD]\s*)+$/;

/** What a share looks like: `5%`, `0.5 %`. Also published in the JSON Schema. */
export const percentPattern = /^\s*(100(\.0+)?|\d{1,2}(\.\d{1,6})?)\s*%\s*$/;

/** Bytes of `1.5 GB` (decimal), `300 MiB` (binary) or a plain number of bytes; undefined if it is not a size. */
export function parseSize(size: string | number): number | undefined {
  if (typeof size === "number") return size >= 0 && Number.isFinite(size) ? Math.round(size) : undefined;
  if (!sizePattern.test(size)) return undefined;
  const [, number = "", unit = ""] = /^\s*([\d.]+)\s*([a-z]*)\s*$/i.exec(size) ?? [];
  const bare = unit.toLowerCase();
  const factor = sizeFactors.get(bare) ?? sizeFactors.get(`${bare}b`);
  return factor === undefined ? undefined : Math.round(Number(number) * factor);
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of `15m`, `120s`, `1h30m` or a plain number of seconds; undefined if it is not a duration. */
export function parseDuration(duration: string | number): number | undefined {
  if (typeof duration === "number") return duration >= 0 && Number.isFinite(duration) ? duration : undefined;
  if (!durationPattern.test(duration)) return undefined;
  let seconds = 0;
  for (const [, number = "", unit = ""] of duration.matchAll(/([\d.]+)\s*([smhd])/gi))
    seconds += Number(number) * (secondsOf[unit.toLowerCase()] ?? 0);
  return seconds;
}
