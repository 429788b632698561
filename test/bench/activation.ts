import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { median, print } from "./figure";

/** In a fresh Node: the time that require() of the bundle takes, with a `vscode` that answers everything. */
const probe = `
const stub = () => new Proxy(class {}, { get: (target, key) => key === "prototype" ? target.prototype : key === Symbol.toPrimitive ? () => "" : stub(), apply: () => stub(), construct: () => ({}) });
const module_ = require("node:module");
const load = module_._load;
const vscode = stub();
module_._load = function (name, ...rest) { return name === "vscode" ? vscode : load.call(this, name, ...rest); };
const began = process.hrtime.bigint();
require(process.argv[1]);
console.log(Number(process.hrtime.bigint() - began) / 1e6);
process.exit(0);
`;

/** What the editor waits for when it starts the extension. The bundle is made anew, minified, as it ships. */
export async function measureActivation(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-activation-"));
  try {
    const file = join(folder, "extension.js");
    await bundleEntry(file);
    const kB = statSync(file).size / 1000;
    print({ name: "activation-size", value: kB, unit: "kB loaded", bar: "<= 350 kB", ok: kB <= 350 });
    const times = Array.from({ length: 7 }, () => {
      const { stdout, stderr, status } = spawnSync(process.execPath, ["-e", probe, file], { encoding: "utf8" });
      if (status !== 0) throw new Error(`The bundle cannot be loaded: ${stderr.slice(-500)}`);
      return Number(stdout.trim().split("\n").at(-1));
    });
    const ms = median(times);
    print({ name: "activation-require", value: ms, unit: "ms", bar: "<= 100 ms", ok: ms <= 100, n: times.length });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundleEntry(outfile: string): Promise<void> {
  await build({
    entryPoints: ["src/extension.ts"],
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node22",
    format: "cjs",
    // What the entry loads on first use lies in bundles of its own.
    external: ["vscode"],
    plugins: [
      {
        name: "on-demand",
        setup: (plugins) => {
          plugins.onResolve({ filter: /^\.\// }, ({ path, kind }) =>
            kind === "dynamic-import" ? { path, external: true } : undefined,
          );
        },
      },
    ],
    loader: { ".sh": "text" },
    logLevel: "warning",
  });
}

/** The file that is installed, where it was built (`npm run package`). */
export function measurePackage(): Promise<void> {
  const { name, version } = JSON.parse(readFileSync("package.json", "utf8")) as { name: string; version: string };
  const file = resolve(`${name}-${version}.vsix`);
  if (!existsSync(file)) {
    const others = readdirSync(".").filter((other) => other.endsWith(".vsix"));
    const note = `not built: npm run package${others.length > 0 ? ` (there is ${others.join(", ")})` : ""}`;
    print({ name: "package", value: null, unit: "MB", bar: "<= 1.5 MB", note });
    return Promise.resolve();
  }
  const megabytes = statSync(file).size / 1e6;
  print({ name: "package", value: megabytes, unit: "MB", bar: "<= 1.5 MB", ok: megabytes <= 1.5 });
  return Promise.resolve();
}
