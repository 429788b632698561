// The real VS Code that the tests and the demo run in where no desktop editor can be had: the server of npm's
// code-server package, installed once into a cache folder outside the repository. Imports nothing but Node, so that
// it works before the dependencies are there.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** VS Code version → the packages that bring it. The server wants a newer Node than the one these scripts need. */
const editions = {
  1.139: { codeServer: "4.139.1", node: "24.22.3", version: "1.139.1" },
  // A dependency of this server is named by a git address; the same version's release from npm serves as well.
  1.105: { codeServer: "4.105.1", node: "22.23.5", version: "1.105.1", replace: { "@parcel/watcher": "2.5.1" } },
};

/** The newest edition and the oldest that the manifest's `engines` promises. */
export const newest = "1.139";
export const floor = "1.105";

/** Where big, lasting things are kept: `$ML_SESSION_MONITOR_CACHE`, else the user's cache folder. */
export function cacheFolder() {
  return (
    process.env.ML_SESSION_MONITOR_CACHE ??
    join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "ml-session-monitor")
  );
}

/** Runs a program to its end; rejects with the end of its output if it fails. */
export function runQuietly(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk) => (output = (output + chunk).slice(-4000));
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", reject);
    child.on("close", (code, signal) =>
      code === 0
        ? resolve(output)
        : reject(new Error(`${command} ${args.join(" ")} ended with ${signal ?? code}:\n${output.trim()}`)),
    );
  });
}

const npm = (cwd, ...args) =>
  runQuietly("npm", [...args, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd });

/**
 * Installs the served VS Code if it is not there yet. It is built in a sibling folder and renamed as the last step, so
 * that a half install is never used and two processes may race.
 * @param {"1.139" | "1.105"} version
 * @param {(line: string) => void} log
 * @returns {Promise<{ node: string, serverMain: string, version: string }>}
 */
export function ensureEditor(version, log = console.error) {
  const under = underWay.get(version) ?? makeSure(version, log);
  underWay.set(version, under);
  return under;
}

/** Two askers in one process share one install. */
const underWay = new Map();

async function makeSure(version, log) {
  const edition = editions[version];
  if (edition === undefined) throw new Error(`There is no served VS Code ${version} here.`);
  if (process.platform !== "linux") throw new Error("The served VS Code is for Linux; use the desktop editor here.");
  const cache = cacheFolder();
  const home = join(cache, `vscode-${edition.version}-node-${edition.node}-${process.arch}`);
  const nodePackage = `node-linux-${process.arch}`;
  const editor = {
    node: join(home, "node_modules", nodePackage, "bin", "node"),
    serverMain: join(home, "node_modules/code-server/lib/vscode/out/server-main.js"),
    version: edition.version,
  };
  if (existsSync(home)) return editor;

  log(`Installing VS Code ${edition.version} into ${home} (once; about two minutes and 800 MB) …`);
  const began = Date.now();
  await mkdir(cache, { recursive: true });
  await removeLeftovers(cache);
  const building = await mkdtemp(join(cache, "building-"));
  try {
    await install(building, edition, nodePackage);
    await rename(building, home).catch((error) => {
      if (!existsSync(home)) throw error;
    });
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  log(`VS Code ${edition.version} is installed, ${Math.round((Date.now() - began) / 1000)} s.`);
  return editor;
}

async function install(folder, edition, nodePackage) {
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  await npm(folder, "install", `code-server@${edition.codeServer}`, `${nodePackage}@${edition.node}`);
  const server = join(folder, "node_modules/code-server/lib/vscode");
  if (edition.replace !== undefined) {
    const file = join(server, "package.json");
    const manifest = JSON.parse(await readFile(file, "utf8"));
    Object.assign(manifest.dependencies, edition.replace);
    await writeFile(file, JSON.stringify(manifest, null, 2));
    await rm(join(server, "npm-shrinkwrap.json"), { force: true });
  }
  await npm(server, "install", "--omit=dev");
}

/** What an interrupted install left behind, once nobody can be working in it any more. */
async function removeLeftovers(cache) {
  const old = Date.now() - 2 * 3600_000;
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (name.startsWith("building-") && (await stat(path)).mtimeMs < old)
      await rm(path, { recursive: true, force: true });
  }
}
