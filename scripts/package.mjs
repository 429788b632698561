// Packs the extension:  node scripts/package.mjs  → ml-session-monitor-VERSION.vsix
// Prints what is in it, and fails where it is too big or holds what must not ship.
import { readFileSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ensureDependencies } from "./setup.mjs";
import { runQuietly } from "./editor.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const mostBytes = 1_500_000;
const { name, version, repository } = JSON.parse(readFileSync("package.json", "utf8"));
const vsix = `${name}-${version}.vsix`;

rmSync(vsix, { force: true });
await ensureDependencies();
// Only now, since on a fresh clone it was not there before.
const { createVSIX, listFiles, PackageManager } = await import("@vscode/vsce");
await runQuietly(process.execPath, ["scripts/build.mjs"]);
const { writeNotices } = await import("./notices.mjs");
const notices = await writeNotices("THIRD_PARTY_NOTICES.txt");
console.log(`bundled: ${notices.join(", ")}`);

const files = await listFiles({ packageManager: PackageManager.None });
console.log(files.map((file) => `  ${String(statSync(file).size).padStart(9)}  ${file}`).join("\n"));
await createVSIX({
  dependencies: false,
  packagePath: vsix,
  // Relative links of the README are made absolute by the repository's address, once the manifest names one.
  allowMissingRepository: true,
  rewriteRelativeLinks: repository !== undefined,
});
const { size } = statSync(vsix);
console.log(`${vsix}: ${files.length} files, ${size} bytes`);

const wrong = files.filter((file) => /\.(map|node|ts)$|(^|\/)\.|node_modules/.test(file));
if (wrong.length > 0) console.error(`These must not ship: ${wrong.join(", ")}`);
if (size > mostBytes) console.error(`The package is over ${mostBytes} bytes.`);
if (wrong.length > 0 || size > mostBytes) process.exitCode = 1;
