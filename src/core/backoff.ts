const firstMs = 500;
const longestMs = 30_000;

/**
 * How long to wait before the next try at a host that cannot be reached, ms: twice as long each time up to half a minute.
 * A quarter of it differs with the moment, so that what was lost together does not come back in step (sshd drops bursts,
 * MaxStartups).
 * @param tries that failed before this wait, from 0
 * @param now any number that differs from one to the next, such as the time
 */
export function retryDelay(tries: number, now: number): number {
  const longest = Math.min(longestMs, firstMs * 2 ** Math.min(tries, 20));
  return Math.round(longest * (0.75 + 0.25 * scattered(now + tries)));
}

/** A number from 0 to 1 that looks like chance (Knuth's multiplicative hash). */
function scattered(value: number): number {
  return ((Math.floor(value) * 2654435761) % 4294967296) / 4294967296;
}
