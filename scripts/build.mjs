// Builds the bundles into dist/ and holds them to their budgets.
//   node scripts/build.mjs [--watch] [--dev]
import { mkdir, rm, writeFile } from "node:fs/promises";
import { context } from "esbuild";
import { bundles, budgets } from "./bundles.mjs";

const watch = process.argv.includes("--watch");
const minify = !watch && !process.argv.includes("--dev");

if (!watch) await rm("dist", { recursive: true, force: true });
await mkdir("dist", { recursive: true });
const contexts = await Promise.all(bundles({ minify }).map((options) => context(options)));
if (watch) {
  await Promise.all(contexts.map((c) => c.watch()));
  console.log("watching");
} else {
  const sizes = {};
  for (const c of contexts) {
    const { metafile } = await c.rebuild();
    for (const [file, output] of Object.entries(metafile?.outputs ?? {})) sizes[file] = output.bytes;
    await c.dispose();
  }
  await mkdir("out", { recursive: true });
  await writeFile("out/sizes.json", JSON.stringify(sizes, null, 2));
  if (minify) {
    const over = Object.entries(budgets).filter(([file, kB]) => (sizes[`dist/${file}`] ?? 0) > kB * 1000);
    for (const [file, kB] of over)
      console.error(`dist/${file} is ${sizes[`dist/${file}`]} bytes, its budget is ${kB} kB`);
    if (over.length > 0) process.exitCode = 1;
  }
}
