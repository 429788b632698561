// The suite of the real extension host:  node test/host/run.mjs [--floor] [--desktop] [--extension=FOLDER]
// Bundles test/host/**/*.test.ts into one module with run() and gives it to @vscode/test-electron, with the served
// editor as the executable; --desktop lets it download the desktop editor instead. The open folder is a copy of
// test/fixtures/workspace, and the demo is opened in memory at the start, which also writes what the product sees.
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { runTests } from "@vscode/test-electron";
import { build } from "esbuild";
import { filesBelow, sources } from "../../scripts/bundles.mjs";
import { floor, newest } from "../../scripts/editor.mjs";

const option = (name) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const desktop = process.argv.includes("--desktop");
const version = process.argv.includes("--floor") ? floor : newest;
const folder = resolve("out", `host-${process.pid}`);
const index = `${folder}/index.js`;
const workspace = `${folder}/workspace`;

await mkdir(folder, { recursive: true });
try {
  await cp("test/fixtures/workspace", workspace, { recursive: true });
  const files = filesBelow("test/host", ".test.ts").map((file) => `./${relative(folder, resolve(file))}`);
  // Written beside the bundle, so that its imports are found from where it lies.
  const entry = `${folder}/entry.ts`;
  const own = relative(folder, resolve("test/host/index.ts"));
  const imports = files.map((file) => `import ${JSON.stringify(file)};`).join("\n");
  await writeFile(entry, `${imports}\nexport { run } from ${JSON.stringify(own)};\n`);
  await build({
    entryPoints: [entry],
    outfile: index,
    bundle: true,
    platform: "node",
    target: "node22",
    format: "cjs",
    external: ["vscode", "cpu-features", "*.node"],
    sourcemap: "inline",
    ...sources,
    logLevel: "warning",
  });
  await runTests({
    ...(desktop ? { version: `${version}.0` } : { vscodeExecutablePath: resolve("test/rig/vscode-served") }),
    extensionDevelopmentPath: resolve(option("extension") ?? "."),
    extensionTestsPath: index,
    extensionTestsEnv: {
      ML_SESSION_EDITOR: version,
      ML_SESSION_DEMO: "memory",
      ML_SESSION_DEMO_REPORT: `${folder}/picture.jsonl`,
    },
    launchArgs: [workspace, "--disable-extensions"],
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
