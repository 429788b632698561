/** The middle of an ascending list; 0 of an empty one. */
export function middleOf(sorted: Float64Array | readonly number[]): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The median; 0 of an empty list. */
export function median(values: readonly number[]): number {
  return middleOf(new Float64Array(values).sort());
}
