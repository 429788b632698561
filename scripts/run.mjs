// Bundles a TypeScript entry into out/ and runs it:  node scripts/run.mjs ENTRY.ts [arguments…]
import { spawn } from "node:child_process";
import { basename, resolve } from "node:path";
import { build } from "esbuild";
import { sources } from "./bundles.mjs";

const [entry, ...rest] = process.argv.slice(2);
const outfile = resolve("out", "run", basename(entry).replace(/\.ts$/, ".mjs"));
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  packages: "external",
  sourcemap: "inline",
  ...sources,
  logLevel: "warning",
});
const child = spawn(process.execPath, ["--enable-source-maps", outfile, ...rest], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)));
