import { mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sshd } from "./sshd";

/**
 * Writes an SSH configuration that knows the server as `alias`, and answers its path.
 * Both files are whole at every moment: the `ssh -G` of another window may read them while they are written again.
 */
export function writeSshConfig(sshd: Sshd, alias: string, port = sshd.port): string {
  const known = join(sshd.folder, "known_hosts");
  const config = join(sshd.folder, "ssh_config");
  const lines = [`Host ${alias}`, "HostName 127.0.0.1", `Port ${port}`, `User ${sshd.user}`];
  const keys = [`IdentityFile ${sshd.userKeyFile}`, "IdentitiesOnly yes", `UserKnownHostsFile ${known}`];
  replace(known, `${sshd.knownHostsLine.replace(`:${sshd.port} `, `:${port} `)}\n`);
  replace(config, `${[...lines, ...keys].join("\n  ")}\n`);
  return config;
}

function replace(path: string, text: string): void {
  const fresh = join(mkdtempSync(`${path}-`), "whole");
  writeFileSync(fresh, text);
  renameSync(fresh, path);
}
