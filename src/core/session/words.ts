import type { ProgressReading } from "../log/reading";
import type { Eta } from "./eta";
import { outputsFormat } from "./outputChecks";

/*
 * How numbers and times are said, in one place so that the tree, the status bar and the charts say them alike.
 * Numbers are grouped by commas and clock times are the reader's own local time, 24 hours.
 */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A whole number with its thousands grouped: `25,000`. Fractions are rounded away. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number with as many digits as help: `3.1`, `0.62`, `1,204`; never in exponential form above 0.001. */
export function decimal(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return count(value);
  if (size >= 10) return trimmed(value.toFixed(1));
  if (size >= 1) return trimmed(value.toFixed(size < 9.95 && size >= 2 ? 1 : 2));
  return size >= 0.001 ? trimmed(value.toPrecision(2)) : trimmed(value.toExponential(1));
}

/** Bytes in powers of 1000, as hubs and disks count them: `1.5 GB`. */
export function bytes(value: number): string {
  const { unit, size } = byteUnit(value);
  return `${decimal(value / size)} ${unit}`;
}

/** Part of a whole in the unit of the whole: `1.2 / 4.5 GB`. */
export function bytesOf(part: number, whole: number): string {
  const { unit, size } = byteUnit(whole);
  // What has just begun would be a number with an exponent.
  if (part > 0 && part < size / 100) return `${bytes(part)} / ${bytes(whole)}`;
  return `${decimal(part / size)} / ${decimal(whole / size)} ${unit}`;
}

function byteUnit(value: number): { readonly unit: string; readonly size: number } {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const power = value < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return { unit: units[power] ?? "B", size: 1000 ** power };
}

/** GPU memory. The driver counts in MiB and everybody calls 1024 of them a GB: `131 / 140 GB`. */
export function gpuMemory(usedMib: number | undefined, totalMib: number | undefined): string | undefined {
  if (usedMib === undefined) return totalMib === undefined ? undefined : `${decimal(totalMib / 1024)} GB`;
  const used = usedMib >= 10 * 1024 ? count(usedMib / 1024) : decimal(usedMib / 1024);
  return totalMib === undefined ? `${used} GB` : `${used} / ${count(totalMib / 1024)} GB`;
}

/** A length of time, in ms: `0.4 s`, `42 s`, `12 min`, `5 h 02 min`, `3 d 4 h`. Negative ones read as 0. */
export function duration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 9.95 * second) return `${trimmed((length / second).toFixed(1))} s`;
  const seconds = Math.round(length / second);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(length / minute);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  const hours = Math.round(length / hour);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How long ago, for things that were seen: `just now`, `3 min ago`. */
export function age(at: number, now: number): string {
  return now - at < 2 * second ? "just now" : `${duration(now - at)} ago`;
}

/** A moment as a clock time; with the day where the time alone could be misread: `04:10`, `Tue 07:15`, `3 Dec 07:15`. */
export function clockTime(at: number, now: number): string {
  return dayPrefix(at, now) + timeOfDay(at);
}

function timeOfDay(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

function dayPrefix(at: number, now: number): string {
  const [date, today] = [new Date(at), new Date(now)];
  const distance = Math.abs(at - now);
  // A night ends on another date, yet nobody misreads "04:10" at ten in the evening.
  if (distance < 18 * hour || (distance < day && date.getDate() === today.getDate())) return "";
  if (distance < 6 * day) return `${weekdays[date.getDay()] ?? ""} `;
  const year = date.getFullYear() === today.getFullYear() ? "" : `${date.getFullYear()} `;
  return `${date.getDate()} ${months[date.getMonth()] ?? ""} ${year}`;
}

/** When something will be through, without its range: `~04:10`; undefined if the estimate says nothing. */
export function finishTime(eta: Eta, now: number): string | undefined {
  const finish = eta.at + eta.eta * second;
  if (!Number.isFinite(finish)) return undefined;
  if (finish <= now) return `due ${clockTime(finish, now)}`;
  return finish - now < minute ? "in under a minute" : `~${clockTime(finish, now)}`;
}

/** The same with its 80 % range: `~04:10 (03:30–05:20)`. A range of less than a minute is left out. */
export function finishRange(eta: Eta, now: number): string | undefined {
  const finish = finishTime(eta, now);
  if (finish?.startsWith("~") !== true) return finish;
  const prefix = dayPrefix(eta.at + eta.eta * second, now);
  const ends = [eta.lo, eta.hi].map((seconds) => eta.at + seconds * second);
  if (!ends.every(Number.isFinite)) return finish;
  const [from, to] = ends.map((at) => (dayPrefix(at, now) === prefix ? timeOfDay(at) : clockTime(at, now)));
  return from === to ? finish : `${finish} (${from ?? ""}–${to ?? ""})`;
}

/** How far a job is, rounded down so that 100 means through; undefined where the log does not say. */
export function percentDone(reading: ProgressReading): number | undefined {
  const { done, total, metrics } = reading;
  if (done !== undefined && total !== undefined && total > 0) return Math.min(100, Math.floor((100 * done) / total));
  const printed = metrics?.["percent"];
  return typeof printed === "number" ? Math.min(100, Math.floor(printed)) : undefined;
}

/** The counter of a job: `4,120 / 25,000`, `1.2 / 4.5 GB`, `8,190 samples`, `48 %`. */
export function counter(reading: ProgressReading): string | undefined {
  const { done, total, unit } = reading;
  const percent = percentDone(reading);
  if (done === undefined) return percent === undefined ? undefined : `${percent} %`;
  const inBytes = unit === "B";
  if (total !== undefined) return inBytes ? bytesOf(done, total) : `${count(done)} / ${count(total)}`;
  return inBytes ? bytes(done) : `${count(done)} ${plural(done, unit === undefined || unit === "it" ? "step" : unit)}`;
}

/** What was written, in bytes or things: `19.2 of 25 GB`, `18,204 of 25,000 lines written`, `1.2 GB written`. */
export function written(done: number, total: number | undefined, unit = "files"): string {
  if (unit === "B") return total === undefined ? `${bytes(done)} written` : bytesOf(done, total).replace(" / ", " of ");
  return total === undefined
    ? `${amount(done, singular(unit))} written`
    : `${count(done)} of ${amount(total, singular(unit))} written`;
}

function singular(unit: string): string {
  return unit.replace(/s$/, "");
}

/** Units that are whole words; `it`, `req` or a tool's own short name stay as they are. */
const countedWords = /^(?:line|file|step|sample|example|token|row|record|request|image|frame|sequence|shard|prompt)$/;

/** The unit of a speed where no single one is meant: `lines/s`, `req/s`. */
export function rateUnitName(rateUnit: string): string {
  const per = rateUnit.endsWith("/s") ? rateUnit.slice(0, -2) : "";
  return countedWords.test(per) ? `${per}s/s` : rateUnit;
}

/** A speed: `3.1 req/s`, `0 lines/s`, `104 MB/s`; slow ones the other way round, as `28 s/it`. */
export function speed(rate: number, rateUnit = "it/s"): string {
  if (rateUnit === "B/s") return `${bytes(rate)}/s`;
  const per = rateUnit.endsWith("/s") ? rateUnit.slice(0, -2) : undefined;
  if (per !== undefined && rate > 0 && rate < 0.1) return `${decimal(1 / rate)} s/${per}`;
  const number = decimal(rate);
  return `${number} ${number === "1" ? rateUnit : rateUnitName(rateUnit)}`;
}

/** Counter, speed and errors of a reading, as parts to be joined. */
export function progressParts(reading: ProgressReading): readonly string[] {
  const parts: string[] = [];
  const { done, total, unit } = reading;
  const own = reading.format === outputsFormat && done !== undefined;
  const counted = own ? written(done, total, unit) : counter(reading);
  if (counted !== undefined) parts.push(counted);
  if (reading.rate !== undefined) parts.push(speed(reading.rate, reading.rate_unit));
  if (reading.errors !== undefined && reading.errors > 0) parts.push(amount(reading.errors, "error"));
  return parts;
}

/** A number with its noun: `1 error`, `12 errors`. */
export function amount(value: number, noun: string): string {
  return `${count(value)} ${plural(value, noun)}`;
}

function plural(value: number, noun: string): string {
  return value === 1 ? noun : noun.endsWith("s") ? noun : `${noun}s`;
}

/** Names as a person lists them: `a`, `a and b`, `a, b and c`. */
export function list(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? "";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

function trimmed(text: string): string {
  return text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");
}

/** Up to the first full stop that another sentence follows: what fits into a row. */
export function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s+\p{Lu})/su.exec(text)?.[0] ?? text;
}

/** A line of a log among our own words. */
export function quoted(line: string): string {
  return `“${line}”`;
}
