// Bundles the ETA estimator as a module of its own and prints where it lies, and nothing else.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const outfile = resolve("out", "eta", "estimate.mjs");
await build({
  entryPoints: ["src/core/session/estimate.ts"],
  outfile,
  bundle: true,
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2022",
  format: "esm",
  logLevel: "warning",
});
console.log(outfile);
