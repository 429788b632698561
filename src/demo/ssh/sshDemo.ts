import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toDisposable } from "../../core/lifecycle";
import type { HostConnector } from "../../core/ports";
import { createConnector } from "../../ssh/connector";
import type { DemoHost, DemoHostOptions } from "../demoHost";
import { vllmScore } from "../night";
import { scoreText } from "../score";
import { hostName } from "../story";
import { hostEnvironment, writeDemoHome } from "./demoHome";
import { newKeyPair, startServer, type EmbeddedServer } from "./embeddedServer";
import { killAllOf } from "./leftovers";

const user = "demo";

/** Where the files of the connection lie, apart from the host's home. */
export interface SshDemoOptions extends DemoHostOptions {
  /** Gets the SSH configuration, the client's key and the pinned host key. */
  readonly folder: string;
}

/**
 * The demo host as a real one: an SSH server inside this process, the product's own connection to it, and a shell
 * that runs what the product starts. Linux only; see `whyNoRealHost`.
 */
export async function sshDemo(options: SshDemoOptions): Promise<DemoHost> {
  const { places, logger } = options;
  const env = hostEnvironment(places);
  await writeDemoHome(places, options.speed);
  const host = newKeyPair();
  const client = newKeyPair();
  const serverOptions = { user, hostKey: host.private, clientKey: client.public, cwd: places.home, env, logger };
  const server = await startServer(serverOptions);
  const end = toDisposable(() => {
    rmSync(join(places.home, ".demo", "alive"), { force: true });
    server.dispose();
    killAllOf(places.home);
  });
  try {
    const connector = await connectorTo(server, host.public, client.private, options);
    return { connector, startServer: () => playServer(options, env), ...end };
  } catch (error) {
    end.dispose();
    throw error;
  }
}

/** The product's own connector, with an SSH configuration that knows this one host. */
async function connectorTo(
  { port }: EmbeddedServer,
  hostKey: string,
  clientKey: string,
  { folder, clock, logger, isTrusted }: SshDemoOptions,
): Promise<HostConnector> {
  const keyFile = join(folder, "client_key");
  const knownHosts = join(folder, "known_hosts");
  const sshConfigFile = join(folder, "ssh_config");
  const [keyType, key] = hostKey.split(" ");
  await writeFile(keyFile, clientKey, { mode: 0o600 });
  await writeFile(knownHosts, `[127.0.0.1]:${port} ${keyType ?? ""} ${key ?? ""}\n`);
  await writeFile(
    sshConfigFile,
    `Host ${hostName}
  HostName 127.0.0.1
  Port ${port}
  User ${user}
  IdentityFile "${keyFile}"
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile "${knownHosts}"
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`,
  );
  return createConnector({
    isTrusted,
    // Nothing is left to ask: the key is pinned, and it is the only credential.
    prompter: { confirmHostKey: () => Promise.resolve(false), ask: () => Promise.resolve(undefined) },
    trustedKeys: { lines: () => [], remember: () => Promise.resolve() },
    clock,
    logger,
    env: { PATH: process.env["PATH"] },
    home: folder,
    user,
    sshConfigFile,
  });
}

/** Starts the model server as somebody else's process: the product finds its log and GPUs, and nothing to stop. */
async function playServer(
  { places, speed, clock, logger }: SshDemoOptions,
  env: Record<string, string>,
): Promise<void> {
  const { home, data } = places;
  const score = join(home, ".demo", "vllm.score");
  await writeFile(score, scoreText(vllmScore(speed, clock.now())));
  const log = await open(join(data, "vllm.log"), "a");
  try {
    const args = [join(home, ".demo", "play.sh"), score, data];
    const child = spawn("sh", args, { cwd: data, env, detached: true, stdio: ["ignore", log.fd, log.fd] });
    child.on("error", (error) => {
      logger.error("The demo's server could not be started.", error);
    });
    child.unref();
  } finally {
    await log.close();
  }
}
