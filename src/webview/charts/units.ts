import { bytes, count, decimal, speed } from "../../core/session/words";
import type { ChartUnit } from "../../protocol/webview";

/** A value with its unit, as the other views say it. */
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
      return `${decimal(value / 1024)} GB`;
    case "watt":
      return `${count(value)} W`;
    case "celsius":
      return `${count(value)} °C`;
  }
}

/** A value at a tick of the axis: short, since the title says the unit. */
export function sayTick(value: number, unit: ChartUnit): string {
  if (unit.kind === "mib") return decimal(value / 1024);
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
      return unit.unit === "B/s" ? "" : unit.unit;
    case "mib":
      return "GB";
    case "watt":
      return "W";
    case "celsius":
      return "°C";
  }
}
