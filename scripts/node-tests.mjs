// Runs the suites that need no editor:  node scripts/node-tests.mjs unit ssh [-- more arguments of node --test]
// Each test file is bundled by itself into out/test, so that it may import the product's sources and shell scripts.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { build } from "esbuild";
import { filesBelow, sources } from "./bundles.mjs";

const cut = process.argv.indexOf("--", 2);
const args = cut < 0 ? process.argv.slice(2) : process.argv.slice(2, cut);
const more = cut < 0 ? [] : process.argv.slice(cut + 1);
// A suite (`unit`) or one file of it (`test/unit/foo.test.ts`).
const files = args.flatMap((arg) => (arg.endsWith(".ts") ? [arg] : filesBelow(`test/${arg}`, ".test.ts")));
const outdir = `out/test-${process.pid}`;
process.on("exit", () => rmSync(outdir, { recursive: true, force: true }));
await build({
  entryPoints: files,
  outdir,
  outbase: ".",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  packages: "external",
  sourcemap: "inline",
  ...sources,
  logLevel: "warning",
});
const bundled = files.map((file) => `${outdir}/${file.replace(/\.ts$/, ".mjs")}`);
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...more, ...bundled], { stdio: "inherit" });
process.exitCode = run.status ?? 1;
