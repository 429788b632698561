// Writes schemas/ml-session.schema.json from the one schema in code:  node scripts/run.mjs scripts/schema.ts [--check]
import { readFile, writeFile } from "node:fs/promises";
import { format } from "prettier";
import * as z from "zod/mini";
import { sessionSchema } from "../src/core/session/sessionSchema";

const file = "schemas/ml-session.schema.json";
const schema = {
  ...z.toJSONSchema(sessionSchema, { io: "input", target: "draft-07" }),
  title: "ML Session",
  description: "A pipeline of long-running stages on remote machines, for the extension ML Session Monitor.",
};
const text = await format(JSON.stringify(schema), { parser: "json", printWidth: 120 });
if (process.argv.includes("--check")) {
  const written = await readFile(file, "utf8").catch(() => "");
  if (written !== text) {
    console.error(`${file} is not what the code says; run: node scripts/run.mjs scripts/schema.ts`);
    process.exitCode = 1;
  }
} else {
  await writeFile(file, text);
}
