import type { ProgressReading } from "../log/reading";
import type { ResumePoint } from "./launchNote";

/** How far the counts of a log and of files may differ and still mean the same, as a share of the whole. */
const tolerance = 0.05;

/**
 * The reading as a part of the whole stage. A run that goes on with a filtered list counts from 0 to what was left
 * (`Progress: 40/7000`); one that goes on at its old count (`18040/25000`) is right as it stands. Which of them it is shows
 * in the total: what was there and the printed total make the whole, or the printed total alone does.
 */
export function ofWholeStage(reading: ProgressReading, point: ResumePoint | undefined): ProgressReading {
  const { done, total } = reading;
  const before = point?.from;
  if (before === undefined || before === 0 || done === undefined || total === undefined) return reading;
  if (reading.role === "aux" || done > total) return reading;
  const whole = point?.total;
  const isRest = whole === undefined ? total < before : isRestOf(whole, before, total);
  if (!isRest) return reading;
  const all = whole ?? before + total;
  // Of what was there some may have to be done again: the whole is what holds.
  return { ...reading, done: Math.max(0, all - total) + done, total: all };
}

function isRestOf(whole: number, before: number, total: number): boolean {
  const asRest = Math.abs(before + total - whole);
  return asRest <= Math.max(1, tolerance * whole) && asRest < Math.abs(total - whole);
}
