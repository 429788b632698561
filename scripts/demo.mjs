// The demo: the night that gave the product its reason, played in minutes.  npm run demo [-- OPTION…]
//   (none)     opens it in the desktop VS Code where there is one, else in a browser
//   --browser  in a browser, in a VS Code served from this machine
//   --memory   plays on a host in memory instead of an SSH server on loopback
//   --ssh      with --check: on the SSH server alone; without either, the check plays both
//   --check    without a person: drives the real editor and exits 0 only if the product saw and cured what happens;
//              pictures go to out/demo, and with --pictures two of them to docs/images
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureDependencies } from "./setup.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const has = (option) => process.argv.includes(`--${option}`);
// The host over SSH is played with setsid and /proc, which only Linux has.
const mode = has("memory") || process.platform !== "linux" ? "memory" : "ssh";

function run(command, args, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", has("check") ? 2 : "inherit", "inherit"], env });
    finish(child, resolve, reject);
  });
}

/** The drivers are TypeScript and print to the demo's own output. */
function runDriver(file) {
  return new Promise((resolve, reject) => {
    const args = ["scripts/run.mjs", file, ...process.argv.slice(2)];
    const child = spawn(process.execPath, args, { stdio: "inherit", env: { ...process.env, ML_SESSION_DEMO: mode } });
    finish(child, resolve, reject);
  });
}

function finish(child, resolve, reject) {
  // Ctrl-C reaches the child too; this process waits until it has cleaned up.
  const wait = () => undefined;
  const pass = () => child.kill("SIGTERM");
  process.on("SIGINT", wait);
  process.on("SIGTERM", pass);
  child.on("error", reject);
  child.on("exit", (code) => {
    process.off("SIGINT", wait);
    process.off("SIGTERM", pass);
    resolve(code ?? 1);
  });
}

function desktopEditor() {
  if (has("browser") || process.env.CI !== undefined || process.getuid?.() === 0) return undefined;
  const names = process.platform === "win32" ? ["code.cmd"] : ["code", "code-insiders"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

async function openDesktop(code) {
  const profile = await mkdtemp(join(tmpdir(), "mls-demo-"));
  console.log("The demo opens in a VS Code window of its own; close the window to end it.");
  try {
    const args = ["--new-window", "--wait", "--disable-workspace-trust", "--user-data-dir", profile];
    args.push(`--extensionDevelopmentPath=${process.cwd()}`);
    return await run(code, args, { ...process.env, ML_SESSION_DEMO: mode });
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

await ensureDependencies();
const built = await run(process.execPath, ["scripts/build.mjs", "--dev"]);
if (built !== 0) {
  console.error("The extension does not build.");
  process.exitCode = built;
} else if (has("check")) {
  process.exitCode = await runDriver("scripts/demoCheck.ts");
} else {
  const code = desktopEditor();
  process.exitCode = code === undefined ? await runDriver("scripts/demoBrowser.ts") : await openDesktop(code);
}
