import { readFile } from "node:fs/promises";
import { agentKeyTypes } from "./agentKeyTypes";
import { SystemSshNeeded } from "./handover";
import { hostsMatch, type KnownHosts } from "./knownHosts";
import type { ResolvedHost } from "./sshConfig";

/**
 * Why a host is not for ssh2, as far as files and the agent tell before anything is sent to it; `undefined` where
 * nothing speaks against it. Security keys are not looked for here: they come last, after all keys that ssh2 has.
 * @param name the host as known_hosts has it
 */
export async function whyNotSsh2(
  host: ResolvedHost,
  known: KnownHosts,
  name: string,
): Promise<SystemSshNeeded | undefined> {
  const { beyond } = host;
  if (beyond.smartCard) return new SystemSshNeeded("PKCS11Provider names a smart card");
  if (beyond.passedSocket) return new SystemSshNeeded("ProxyUseFdpass is set");
  const authority = known.authorities.find((entry) => hostsMatch(entry.hosts, name));
  if (authority !== undefined) {
    const place = `${authority.file}:${authority.line}`;
    return new SystemSshNeeded(`its key is vouched for by a certificate authority (${place})`);
  }
  for (const file of [...beyond.certificateFiles, ...host.identityFiles.map((path) => `${path}-cert.pub`)]) {
    if (await isCertificate(file)) return new SystemSshNeeded(`${file} is a certificate to log in with`);
  }
  if (host.identityAgent === undefined || host.identitiesOnly) return undefined;
  const types = await agentKeyTypes(host.identityAgent);
  return types.some((type) => type.includes("-cert-v01@"))
    ? new SystemSshNeeded("the agent holds a certificate to log in with")
    : undefined;
}

async function isCertificate(file: string): Promise<boolean> {
  const text = await readFile(file, "latin1").catch(() => "");
  return /^\s*\S+-cert-v01@openssh\.com\s/.test(text);
}
