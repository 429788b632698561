/**
 * A map whose keys stay: another one with some other values costs a copy of a list. A copy of a `Map` enters every key
 * anew, and a session of hundreds of stages makes one for each line that any of them writes.
 */
class FixedMap<V> implements ReadonlyMap<string, V> {
  // Not `#`: what two pictures hold must be to be compared from outside.
  private readonly places: ReadonlyMap<string, number>;
  private readonly all: readonly V[];

  constructor(places: ReadonlyMap<string, number>, all: readonly V[]) {
    this.places = places;
    this.all = all;
  }

  get size(): number {
    return this.all.length;
  }

  get(key: string): V | undefined {
    const place = this.places.get(key);
    return place === undefined ? undefined : this.all[place];
  }

  has(key: string): boolean {
    return this.places.has(key);
  }

  keys(): MapIterator<string> {
    return this.places.keys();
  }

  values(): MapIterator<V> {
    return this.all.values();
  }

  *entries(): MapIterator<[string, V]> {
    let place = 0;
    for (const key of this.places.keys()) yield [key, this.all[place++] as V];
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  forEach(run: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this) run(value, key, this);
  }

  /** The same keys with other values for those that are named; others are not added. */
  with(changes: Iterable<readonly [string, V]>): FixedMap<V> {
    const all = [...this.all];
    for (const [key, value] of changes) {
      const place = this.places.get(key);
      if (place !== undefined) all[place] = value;
    }
    return new FixedMap(this.places, all);
  }
}

/** The map with other values for some of its keys, in the order of before. Keys that it does not have are not added. */
export function withValues<V>(
  map: ReadonlyMap<string, V>,
  changes: Iterable<readonly [string, V]>,
): ReadonlyMap<string, V> {
  const fixed =
    map instanceof FixedMap
      ? (map as FixedMap<V>)
      : new FixedMap(new Map([...map.keys()].map((key, place) => [key, place])), [...map.values()]);
  return fixed.with(changes);
}
