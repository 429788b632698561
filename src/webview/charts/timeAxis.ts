const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [10_000, 30_000, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day]; // prettier-ignore
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Round clock times (local) within a span, at most `most` of them. */
export function timeTicks(from: number, to: number, most: number): readonly number[] {
  const step = steps.find((size) => (to - from) / size <= most) ?? 30 * day;
  // Counted from local midnight, so that three-hour steps fall on 00, 03, 06 …
  const midnight = new Date(from);
  midnight.setHours(0, 0, 0, 0);
  const first = midnight.getTime() + Math.ceil((from - midnight.getTime()) / step) * step;
  const ticks: number[] = [];
  for (let tick = first; tick <= to && ticks.length <= most; tick += step) ticks.push(tick);
  return ticks;
}

/** A tick's words: the time, or the day at midnight. Seconds are said where a span is that short. */
export function tickLabel(at: number, span: number): string {
  const date = new Date(at);
  if (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0) {
    return `${weekdays[date.getDay()] ?? ""} ${date.getDate()}`;
  }
  return clock(date, span < 3 * minute);
}

/** A moment in full, for tooltips and tables. */
export function momentLabel(at: number): string {
  const date = new Date(at);
  return `${weekdays[date.getDay()] ?? ""} ${clock(date, true)}`;
}

function clock(date: Date, seconds: boolean): string {
  const parts = [date.getHours(), date.getMinutes(), ...(seconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
