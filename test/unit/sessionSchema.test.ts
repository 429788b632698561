import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as z from "zod/mini";
import { sessionSchema } from "../../src/core/session/sessionSchema";
import { parseDuration, parseSize } from "../../src/core/session/units";

const published: unknown = JSON.parse(readFileSync("schemas/ml-session.schema.json", "utf8"));

test("the published schema is what the code says", () => {
  const made: unknown = JSON.parse(JSON.stringify(z.toJSONSchema(sessionSchema, { io: "input", target: "draft-07" })));
  const { title, description, ...rest } = published as Record<string, unknown>;
  assert.equal(title, "ML Session");
  assert.equal(typeof description, "string");
  assert.deepEqual(rest, made);
});

test("every key of the published schema has a description, and the reference names it", () => {
  const reference = readFileSync("docs/session-file.md", "utf8");
  const keys: string[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const properties = "properties" in node ? node.properties : undefined;
    if (typeof properties === "object" && properties !== null)
      for (const [key, value] of Object.entries(properties) as [string, object][]) {
        assert.ok("description" in value, `\`${key}\` has no description`);
        keys.push(key);
      }
    Object.values(node).forEach(walk);
  };
  walk(published);
  assert.ok(keys.length > 60);
  for (const key of new Set(keys)) assert.match(reference, new RegExp(`\`[^\`]*\\b${key}\\b[^\`]*\``), key);
});

test("sizes and durations", () => {
  const sizes: [string | number, number | undefined][] = [
    ["1.5 GB", 1_500_000_000],
    ["1.5GB", 1_500_000_000],
    ["300 MiB", 314_572_800],
    ["2k", 2000],
    ["1 Ti", 2 ** 40],
    ["12", 12],
    ["12 B", 12],
    [12.4, 12],
    ["GB", undefined],
    ["1,5 GB", undefined],
    ["-1 GB", undefined],
    ["1 XB", undefined],
    [-1, undefined],
  ];
  for (const [text, bytes] of sizes) assert.equal(parseSize(text), bytes, String(text));
  const durations: [string | number, number | undefined][] = [
    ["15m", 900],
    ["120s", 120],
    ["12h", 43_200],
    ["1h30m", 5400],
    ["2 d", 172_800],
    ["1.5h", 5400],
    [7, 7],
    ["15", undefined],
    ["m", undefined],
    ["", undefined],
    [-1, undefined],
  ];
  for (const [text, seconds] of durations) assert.equal(parseDuration(text), seconds, String(text));
});
