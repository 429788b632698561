import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withValues } from "../../src/core/session/fixedMap";

const keys = ["a", "b", "c", "d", "__proto__"] as const;
const change = fc.tuple(fc.constantFrom(...keys, "none"), fc.integer());

test("a map with other values is as a Map with them, and the one before stays as it is", () => {
  const start = fc.uniqueArray(fc.tuple(fc.constantFrom(...keys), fc.integer()), { selector: ([key]) => key });
  fc.assert(
    fc.property(start, fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 5 }), (entries, steps) => {
      const expected = new Map<string, number>(entries);
      let map: ReadonlyMap<string, number> = new Map(expected);
      for (const changes of steps) {
        const [before, copy] = [map, [...map]];
        map = withValues(map, changes);
        for (const [key, value] of changes) if (expected.has(key)) expected.set(key, value);
        assert.deepEqual([...before], copy);
      }
      assert.deepEqual([...map], [...expected]);
      assert.deepEqual([...map.keys()], [...expected.keys()]);
      assert.deepEqual([...map.values()], [...expected.values()]);
      assert.deepEqual([...map.entries()], [...expected.entries()]);
      assert.equal(map.size, expected.size);
      for (const key of [...keys, "none"]) {
        assert.equal(map.get(key), expected.get(key));
        assert.equal(map.has(key), expected.has(key));
      }
      const told: [string, number][] = [];
      map.forEach((value, key, all) => {
        assert.equal(all, map);
        told.push([key, value]);
      });
      assert.deepEqual(told, [...expected]);
    }),
  );
});

test("two maps with different values are not taken for equal", () => {
  const map = new Map([["a", 1]]);
  assert.notDeepEqual(withValues(map, [["a", 2]]), withValues(map, [["a", 3]]));
  assert.deepEqual(withValues(map, [["a", 2]]), withValues(map, [["a", 2]]));
});
