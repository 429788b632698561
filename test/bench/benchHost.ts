import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { parseSessionFile } from "../../src/core/session/sessionFile";
import { createConnector } from "../../src/ssh/connector";
import { optionsFor } from "../ssh/connection";
import { startSshd } from "../ssh/sshd";
import { openStory, storyId, type StoryWindow } from "../ssh/storyWindow";

/** A real sshd on this machine as host `gpu8`, behind a wire that counts. */
export interface BenchHost {
  readonly home: string;
  /** For `ssh -F`; the alias is `gpu8`. */
  readonly configFile: string;
  /** Where sshd's configuration lies, by which its process is known. */
  readonly folder: string;
  readonly wire: Wire;
  /** A connected window on the session file's text. */
  window(file: string): Promise<StoryWindow>;
  stop(): Promise<void>;
}

/** How a bench's host differs from any other. */
interface BenchHostOptions {
  /** Goes before PATH of all that runs on the host. */
  readonly bin?: string;
  /** More lines of sshd_config. */
  readonly config?: readonly string[];
}

export async function startBenchHost({ bin, config = [] }: BenchHostOptions = {}): Promise<BenchHost> {
  const environment = bin === undefined ? {} : { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` };
  const sshd = await startSshd({ config, environment });
  const wire = await startWire(sshd.port);
  const home = join(sshd.folder, "home");
  mkdirSync(home);
  const known = join(sshd.folder, "known_hosts");
  writeFileSync(known, `${sshd.knownHostsLine.replace(`:${sshd.port} `, `:${wire.port} `)}\n`);
  const configFile = join(sshd.folder, "ssh_config");
  const alias = ["Host gpu8", "HostName 127.0.0.1", `Port ${wire.port}`, `User ${sshd.user}`, "BatchMode yes"];
  const keys = [`IdentityFile ${sshd.userKeyFile}`, "IdentitiesOnly yes", `UserKnownHostsFile ${known}`];
  writeFileSync(configFile, `${[...alias, ...keys].join("\n  ")}\n`);
  const windows: StoryWindow[] = [];
  return {
    home,
    configFile,
    folder: sshd.folder,
    wire,
    window: async (file) => {
      const { definition, problems } = parseSessionFile(file);
      if (definition === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
      const window = openStory(definition, createConnector(optionsFor(home, { sshConfigFile: configFile })));
      windows.push(window);
      await window.open.connect(storyId, undefined, true);
      return window;
    },
    stop: async () => {
      for (const window of windows) window.close();
      await wire.stop();
      await sshd.stop();
    },
  };
}

/** A relay on this machine that counts the bytes of both directions. */
export interface Wire {
  readonly port: number;
  readonly bytes: () => number;
  stop(): Promise<void>;
}

async function startWire(target: number): Promise<Wire> {
  let bytes = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: target, host: "127.0.0.1", noDelay: true });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      one.on("error", () => undefined);
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => bytes,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}

/** A session file for host `gpu8` whose stages only watch logs; `stages` maps names to paths. */
export function watching(home: string, stages: Readonly<Record<string, string>>): string {
  const entries = Object.entries(stages).map(([name, log]) => `  ${name}:\n    log: ${log}\n`);
  return `session: bench\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state\nstages:\n${entries.join("")}`;
}
