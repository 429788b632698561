import { fork } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { sources } from "../../scripts/bundles.mjs";
import { startSshd, type Sshd } from "../ssh/sshd";
import { print, quantile, setting } from "./figure";
import { fleetFile, folderIn, makeFolders, stageNames, writeLogs, type FleetOrder, type FleetUse } from "./fleetHosts";
import { channelsOf, serverOf } from "./hostProcesses";
import { simulatedGpus } from "./simulatedGpus";

/**
 * A window that watches 8 and 32 hosts of 8 GPUs and 8 stages, each of which writes a line a second: what its extension
 * host uses, in a process of its own. The 8 hosts are real servers on this machine; 32 of those are more than it can
 * carry, so they are in memory, and 8 such are beside them, so that both can be compared.
 * `BENCH_PROFILE=FOLDER` leaves a profile of each window's CPU there.
 */
export async function measureFleetOfServers(count: number): Promise<void> {
  await measureReal(namesOf(count), await bundled(), setting("BENCH_SECONDS", 60));
}

/** The same with hosts in memory. */
export async function measureFleetInMemory(count: number): Promise<void> {
  await measureInMemory(namesOf(count), await bundled(), setting("BENCH_SECONDS", 60));
}

const namesOf = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `node${n}`);

async function measureReal(hosts: readonly string[], program: string, seconds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fleet-"));
  const servers: Sshd[] = [];
  let stopWriting = (): void => undefined;
  try {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "nvidia-smi"), simulatedGpus);
    chmodSync(join(bin, "nvidia-smi"), 0o755);
    makeFolders(hosts, folder);
    const environment = { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` };
    while (servers.length < hosts.length) servers.push(await startSshd({ environment }));
    const configFile = join(folder, "ssh_config");
    writeFileSync(configFile, hosts.map((host, n) => alias(host, servers[n], folder)).join(""));
    const paths = hosts.flatMap((host) => stageNames.map((stage) => join(folderIn(folder)(host), `${stage}.log`)));
    stopWriting = writeLogs(
      paths.map((path) => (text) => {
        appendFileSync(path, text);
      }),
    );
    let channels: readonly number[] = [];
    const look = (): void => {
      channels = servers.map((server) => channelsOf(serverOf(server.folder)));
    };
    const used = await watched(
      { file: fleetFile(hosts, folderIn(folder)), configFile, folder, seconds },
      program,
      look,
    );
    report(`fleet-${hosts.length}`, hosts.length, used, "real servers on this machine");
    const most = Math.max(...channels);
    print({
      name: `fleet-${hosts.length}-channels`,
      value: most,
      unit: "open on the fullest connection",
      bar: "<= 8",
      ok: most <= 8,
    });
  } finally {
    stopWriting();
    for (const server of servers) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function alias(host: string, server: Sshd | undefined, folder: string): string {
  if (!server) throw new Error(`no server for ${host}`);
  appendFileSync(join(folder, "known_hosts"), `${server.knownHostsLine}\n`);
  const where = ["HostName 127.0.0.1", `Port ${server.port}`, `User ${server.user}`];
  const keys = [
    `IdentityFile ${server.userKeyFile}`,
    "IdentitiesOnly yes",
    `UserKnownHostsFile ${join(folder, "known_hosts")}`,
  ];
  return `Host ${host}\n  ${[...where, ...keys].join("\n  ")}\n`;
}

async function measureInMemory(hosts: readonly string[], program: string, seconds: number): Promise<void> {
  const folder = "/fleet";
  const used = await watched({ file: fleetFile(hosts, folderIn(folder)), folder, seconds }, program);
  report(
    `fleet-${hosts.length}-memory`,
    hosts.length,
    used,
    "hosts in memory: no SSH, but with the time of what writes their logs",
  );
}

/** @param look called while it is measured */
function watched(order: FleetOrder, program: string, look: () => void = () => undefined): Promise<FleetUse> {
  const profile = process.env["BENCH_PROFILE"];
  const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(profile)}`];
  const child = fork(program, [JSON.stringify(order)], {
    execArgv: ["--enable-source-maps", "--expose-gc", ...profiling],
  });
  const looking = setInterval(look, 5000);
  return new Promise<FleetUse>((resolve, reject) => {
    let used: FleetUse | undefined;
    child.on("message", (message) => {
      used = message as FleetUse;
    });
    child.on("exit", (code) => {
      clearInterval(looking);
      if (used) resolve(used);
      else reject(new Error(`the window ended with ${code ?? "a signal"}`));
    });
  });
}

function report(name: string, hosts: number, used: FleetUse, what: string): void {
  const { seconds, cpuMs, heapMb, arraysMb, filesMb, updates, items, updateMs, lines } = used;
  const load = loadavg()[0]?.toFixed(1);
  const note = `${what}; ${hosts * stageNames.length} stages, ${Math.round(lines / seconds)} lines/s, over ${Math.round(seconds)} s, load ${load}`;
  const cpu = (100 * cpuMs) / (1000 * seconds);
  print({ name: `${name}-cpu`, value: cpu, unit: "% of one core", bar: "<= 10 %", ok: cpu <= 10, note });
  const heap = heapMb.at(-1) ?? Number.NaN;
  const files = filesMb.at(-1) ?? 0;
  const arrays = (arraysMb.at(-1) ?? Number.NaN) - files;
  const each = heapMb
    .map((mb, minute) => `${mb.toFixed(1)} + ${((arraysMb[minute] ?? 0) - (filesMb[minute] ?? 0)).toFixed(1)}`)
    .join(", ");
  print({
    name: `${name}-heap`,
    value: heap + arrays,
    unit: "MB",
    bar: "<= 200 MB",
    ok: heap + arrays <= 200,
    note: `objects + arrays, after a collection, each minute: ${each}${files > 0 ? `; without ${files.toFixed(1)} of the hosts' own files` : ""}`,
  });
  const rate = updates / seconds;
  print({
    name: `${name}-updates`,
    value: rate,
    unit: "events/s of the busiest tree",
    bar: "<= 1/s",
    ok: rate <= 1.05,
    note: `${Math.round(items / seconds)} rows drawn a second, all trees`,
  });
  const slow = quantile(updateMs, 0.99);
  print({
    name: `${name}-update`,
    value: slow,
    unit: "ms",
    n: updateMs.length,
    bar: "<= 16 ms",
    ok: slow <= 16,
    note: `p99 of what a change of the picture takes in all views; p50 ${quantile(updateMs, 0.5).toFixed(2)}, longest ${Math.max(...updateMs).toFixed(1)} ms`,
  });
}

/** With a stand-in for the editor. */
async function bundled(): Promise<string> {
  const outfile = resolve("out", "run", "fleetWindow.mjs");
  await build({
    entryPoints: ["test/bench/fleetWindow.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    alias: { vscode: resolve("test/bench/fleetEditor.ts") },
    sourcemap: "inline",
    ...sources,
    logLevel: "warning",
  });
  return outfile;
}
