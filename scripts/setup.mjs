// Brings what the tests and the demo need and a fresh machine lacks: npm's dependencies, a browser, an SSH server and
// small tools. Imports nothing but Node, so that it works before the dependencies are there.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runQuietly } from "./editor.mjs";

/** Where a program lies that PATH finds; sbin counts too, since not everybody's PATH has it. */
function find(program) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

const browsers = ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser", "microsoft-edge"];

/** Debian's package → how to see that what it brings is there, by whatever way it came. */
const present = {
  chromium: () => browsers.some(find),
  "fonts-dejavu-core": () => process.platform !== "linux" || existsSync("/usr/share/fonts"),
  "openssh-client": () => find("ssh") && find("ssh-keygen"),
  "openssh-server": () => find("sshd"),
  shellcheck: () => find("shellcheck"),
  busybox: () => find("busybox"),
  dash: () => find("dash"),
  fish: () => find("fish"),
  tcsh: () => find("tcsh"),
  procps: () => find("ps"),
};

let installing = Promise.resolve();

/**
 * Makes sure of these Debian packages: looks first, installs by apt-get as root, else says what to install.
 * Two calls at once wait for one another, as apt's lock would make them anyway.
 */
export function ensurePackages(names, log = console.error) {
  const next = installing.then(() => installMissing(names, log));
  installing = next.catch(() => undefined);
  return next;
}

async function installMissing(names, log) {
  const missing = names.filter((name) => !present[name]());
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || find("apt-get") === undefined) {
    throw new Error(
      `Not installed: ${missing.join(", ")}. Install them (on Debian: apt-get install ${missing.join(" ")}).`,
    );
  }
  log(`Installing ${missing.join(", ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args) => runQuietly("apt-get", ["-q", "-o", "DPkg::Lock::Timeout=600", ...args], { env });
  await apt("update");
  await apt("install", "-y", "--no-install-recommends", ...missing);
  const still = missing.filter((name) => !present[name]());
  if (still.length > 0) throw new Error(`apt-get installed ${still.join(", ")}, but nothing to run is found.`);
}

/** The path of a Chromium, installed if it must be. */
export async function ensureChromium(log = console.error) {
  const own = process.env.ML_SESSION_MONITOR_BROWSER;
  if (own !== undefined) return own;
  if (process.platform === "darwin") {
    const app = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
    if (existsSync(app)) return app;
    throw new Error("No Chrome found. Install it, or name a Chromium in ML_SESSION_MONITOR_BROWSER.");
  }
  await ensurePackages(["chromium", "fonts-dejavu-core"], log);
  const [path] = browsers.map(find).filter((found) => found !== undefined);
  if (path === undefined) throw new Error("No Chromium found; name one in ML_SESSION_MONITOR_BROWSER.");
  return path;
}

/** Installs npm's dependencies unless what lies in node_modules is what the lock file says. */
export async function ensureDependencies(log = console.error) {
  if (dependenciesMatch()) return;
  log("Installing the dependencies (npm ci) …");
  await runQuietly("npm", ["ci", "--no-audit", "--no-fund"]);
}

function dependenciesMatch() {
  const installed = "node_modules/.package-lock.json";
  if (!existsSync(installed)) return false;
  const have = JSON.parse(readFileSync(installed, "utf8")).packages;
  const want = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
  return Object.entries(want).every(
    ([path, { version, optional }]) => path === "" || (optional && !(path in have)) || have[path]?.version === version,
  );
}
