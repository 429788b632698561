/** Numbers, sizes and times as the tools print them, brought to base units. */

const powers: Readonly<Record<string, number>> = { k: 1, K: 1, M: 2, G: 3, T: 4, P: 5 };

/** Characters of the longest text that can be a number. */
const longestNumber = 60;

/** `40.1G`, `1,875`, `512` → number. `base` is what a `k` of this tool means. */
export function parseCount(text: string, base = 1000): number | undefined {
  if (text.length > longestNumber) return undefined;
  const match = /^(-?[\d,]*\.?\d+(?:[eE][+-]?\d+)?)\s?([kKMGTP]?)(i?)B?$/.exec(text.trim());
  if (match === null) return undefined;
  const value = Number((match[1] ?? "").replaceAll(",", ""));
  const unit = match[2] ?? "";
  return Number.isFinite(value) ? value * (match[3] === "i" ? 1024 : base) ** (powers[unit] ?? 0) : undefined;
}

/** A plain number, `nan` kept as news; `inf`, `N/A` and all else are no number. */
export function parseMetric(text: string): number | "nan" | undefined {
  if (text.length > longestNumber) return undefined;
  const bare = text
    .trim()
    .replace(/^np\.\w+\((.*)\)$/, "$1")
    .replace(/^(['"])(.*)\1$/, "$2");
  if (/^[+-]?nan$/i.test(bare)) return "nan";
  if (!/^[+-]?[\d,]*\.?\d+\.?(?:[eE][+-]?\d+)?$/.test(bare)) return undefined;
  const value = Number(bare.replaceAll(",", "").replace(/\.$/, ""));
  return Number.isFinite(value) ? value : undefined;
}

/** `1:02:03`, `02:03`, `1 day, 2:03:04`, `1:02:03:04`, `1h2m3s`, `1m 3s`, `112s`, `2d 03h` → seconds. */
export function parseDuration(text: string): number | undefined {
  const bare = text.trim();
  const clockMatch = /^(?:(\d+)(?: days?, |:(?=\d+:\d+:)))?(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)$/.exec(bare);
  if (clockMatch !== null) {
    const [, days, hours, minutes, seconds] = clockMatch;
    return Number(days ?? 0) * 86_400 + Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(seconds);
  }
  const partsMatch = /^(?:(\d+)d ?)?(?:(\d+)h ?)?(?:(\d+)m ?)?(?:(\d+(?:\.\d+)?)s)?$/.exec(bare);
  if (partsMatch === null || bare === "") return undefined;
  const [, days, hours, minutes, seconds] = partsMatch;
  return Number(days ?? 0) * 86_400 + Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
}
