import { bytes, count, decimal, rateUnitName, speed } from "../../core/session/words";
import type { ChartUnit } from "../../protocol/webview";

/** What a value is divided by before it is drawn, so that the axis has round numbers in the unit that is said. */
export function divisor(unit: ChartUnit): number {
  return unit.kind === "mib" ? 1024 : 1;
}

/** A drawn value with its unit, as the other views say it. */
export function sayValue(value: number, unit: ChartUnit): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "not a number" : "infinite";
  switch (unit.kind) {
    case "number":
      return decimal(value);
    case "percent":
      return `${decimal(value)} %`;
    case "rate":
      return speed(value, unit.unit);
    case "mib":
      return `${decimal(value)} GB`;
    case "watt":
      return `${count(value)} W`;
    case "celsius":
      return `${count(value)} °C`;
  }
}

/** A value at a tick of the axis: short, since the title says the unit. */
export function sayTick(value: number, unit: ChartUnit): string {
  if (unit.kind === "rate" && unit.unit === "B/s") return bytes(value);
  return Math.abs(value) >= 10_000 ? `${decimal(value / 1000)}k` : decimal(value);
}

/** The unit behind a chart's title; empty where the title says it all. */
export function unitName(unit: ChartUnit): string {
  switch (unit.kind) {
    case "number":
      return "";
    case "percent":
      return "%";
    case "rate":
      return unit.unit === "B/s" ? "" : rateUnitName(unit.unit);
    case "mib":
      return "GB";
    case "watt":
      return "W";
    case "celsius":
      return "°C";
  }
}
