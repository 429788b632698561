// A real sshd with the tools of the night, an SSH configuration that names it, and a folder to open.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startSshd, type Sshd } from "../ssh/sshd";

export interface RemoteHost {
  readonly sshd: Sshd;
  /** The folder that the editor opens. */
  readonly folder: string;
  /** Where the jobs run, on the host. */
  readonly home: string;
  /** The SSH configuration: `gpu8` and `gpu9` are both this host. */
  readonly config: string;
  /** The file of known hosts that it names. */
  readonly knownHosts: string;
}

export async function remoteHost(t: TestContext): Promise<RemoteHost> {
  const sshd = await startSshd({ config: ["LogLevel VERBOSE"] });
  t.after(() => sshd.stop());
  const home = join(sshd.folder, "home");
  const bin = join(home, "ml-env", "bin");
  const folder = join(sshd.folder, "project");
  for (const one of [bin, join(home, "data"), folder]) await mkdir(one, { recursive: true });
  await program(
    join(bin, "huggingface-cli"),
    "echo 'Warning: `huggingface-cli` is deprecated and no longer works. Use `hf` instead.'; exit 1",
  );
  await program(join(bin, "hf"), `[ "$1" = --help ] && exit 0; echo fetched > '${home}/data/model.safetensors'`);
  const config = join(sshd.folder, "ssh_config");
  const knownHosts = join(sshd.folder, "known_hosts");
  await writeFile(knownHosts, "# the user's own file\n");
  await writeFile(
    config,
    [
      "Host gpu8 gpu9",
      "  HostName 127.0.0.1",
      `  Port ${sshd.port}`,
      `  User ${sshd.user}`,
      `  IdentityFile ${sshd.userKeyFile}`,
      "  IdentitiesOnly yes",
      "  IdentityAgent none",
      `  UserKnownHostsFile ${knownHosts}`,
      "  GlobalKnownHostsFile /dev/null",
      "",
    ].join("\n"),
  );
  return { sshd, folder, home, config, knownHosts };
}

async function program(file: string, body: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
}
