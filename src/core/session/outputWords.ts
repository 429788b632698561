import type { Member } from "./model";
import { amount, bytes, clockTime, written } from "./words";

/** What a member has written, for its tooltip: while it runs as last counted, after its end as it was found. */
export function outputsText({ written: counted, outputs }: Member, now: number): string | undefined {
  if (outputs?.unchecked !== undefined) return `could not be looked at: ${outputs.unchecked}`;
  if (outputs)
    return outputs.detail === "" ? `${amount(outputs.files, "file")}, ${bytes(outputs.bytes)}` : outputs.detail;
  if (!counted) return undefined;
  const { done, total, unit, growing, grewAt } = counted;
  const size = unit === "B" ? "" : `, ${bytes(counted.bytes)}`;
  return `${written(done, total, unit)}${size}${growing ? ` · last grew ${clockTime(grewAt, now)}` : ""}`;
}
