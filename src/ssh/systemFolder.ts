import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A socket's name has 104 bytes on macOS and 108 on Linux; ssh adds 17 while it makes one. */
const longest = 80;
const prefix = "mls-";
/** What mkdtemp puts behind the prefix. */
const randomCharacters = 6;

/** A folder for sockets and logs of one connection, the user's alone. */
export interface PrivateFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** @param base where it is made; a place whose name is too long for sockets gives way to /tmp */
export async function makePrivateFolder(base = tmpdir()): Promise<PrivateFolder> {
  const length = Buffer.byteLength(join(base, prefix)) + randomCharacters + "/shared".length;
  const place = length > longest ? "/tmp" : base;
  // Made with mode 0700.
  const path = await mkdtemp(join(place, prefix));
  return { path, remove: () => rm(path, { recursive: true, force: true }).catch(() => undefined) };
}
