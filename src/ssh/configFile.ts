import { readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import SSHConfig from "ssh-config";

/** readconf.c of OpenSSH, READCONF_MAX_DEPTH. */
const maxDepth = 16;
/** A configuration is a few pages; what is larger, or names more files, is a mistake. */
const maxFileBytes = 1 << 20;
const maxFiles = 256;

interface Reading {
  readonly host: string;
  readonly home: string;
  files: number;
}

/**
 * What a configuration file says of a host, for machines without an `ssh` that could be asked: keys in lower case, each
 * with its values. `Include` is followed as ssh_config(5) has it (several names, globs in lexical order, relative to
 * ~/.ssh, conditional inside a block); nothing is executed, so `Match exec` never matches. A file that is missing is empty.
 * @throws Error in plain words where files include each other without end, or there are too many of them
 */
export async function readConfigFile(
  file: string,
  host: string,
  home: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = await flat(file, { host, home, files: 0 }, { depth: 0, before: "" });
  const settings = new Map<string, string[]>();
  for (const [key, value] of Object.entries(computed(text, host))) {
    settings.set(key.toLowerCase(), typeof value === "string" ? [value] : [...value]);
  }
  // The package leaves these as the file has them: lists in one value, tokens in HostName.
  for (const key of ["userknownhostsfile", "globalknownhostsfile"]) {
    const values = settings.get(key);
    if (values !== undefined) settings.set(key, [values.map((one) => (/\s/.test(one) ? `"${one}"` : one)).join(" ")]);
  }
  const hostname = settings.get("hostname")?.[0];
  if (hostname !== undefined) settings.set("hostname", [hostname.replaceAll("%h", host)]);
  return settings;
}

function computed(text: string, host: string): Record<string, string | string[]> {
  return SSHConfig.parse(text).compute(host, { ignoreCase: true, matchExec: false });
}

/** `Include` and its names, in the two forms a directive may have. */
const includeLine = /^\s*include(?:\s*=\s*|\s+)(.*)$/i;
const blockLine = /^\s*(?:host|match)(?:\s*=\s*|\s+)/i;
const probe = "xmlsessionprobe";

/**
 * One text without `Include`: what an included file says stands in its place, if the block around it is for this host,
 * and the block goes on after it. `before` is all that was read so far: `Match` may depend on it.
 */
async function flat(
  file: string,
  reading: Reading,
  { depth, before }: { readonly depth: number; readonly before: string },
): Promise<string> {
  if (depth > maxDepth) throw new Error(`files include each other more than ${maxDepth} deep (${file})`);
  if (++reading.files > maxFiles) throw new Error(`more than ${maxFiles} files are included`);
  let text = "";
  let block = "Host *";
  for (const line of (await contentOf(file)).split(/\r?\n/)) {
    const names = includeLine.exec(line)?.[1];
    if (names === undefined) {
      if (blockLine.test(line)) block = line;
      text += `${line}\n`;
      continue;
    }
    const here = `${before}${text}${block}\n`;
    if (computed(`${here}  ${probe} yes\n`, reading.host)[probe] === undefined) continue;
    for (const included of await filesOf(names, reading.home)) {
      text += `${block}\n${await flat(included, reading, { depth: depth + 1, before: here })}`;
    }
    text += `${block}\n`;
  }
  return text;
}

async function contentOf(file: string): Promise<string> {
  // A pipe or a device would keep us waiting, or never end.
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) return "";
  if (found.size > maxFileBytes) throw new Error(`${file} is larger than ${maxFileBytes} bytes`);
  return readFile(file, "utf8").catch(() => "");
}

async function filesOf(names: string, home: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const [, quoted, bare] of names.replace(/\s+#.*$/, "").matchAll(/"([^"]*)"|(\S+)/g)) {
    const name = quoted ?? bare ?? "";
    const path = name.startsWith("~/") ? join(home, name.slice(2)) : name;
    files.push(...(await globbed(isAbsolute(path) ? path : join(home, ".ssh", path))));
  }
  return files;
}

/** glob(7) over each part of the path, in lexical order; hidden files only where the pattern says so. */
async function globbed(path: string): Promise<readonly string[]> {
  let found = [""];
  for (const part of path.split(/[/\\](?=[^*?[\]]|[*?[\]])/)) {
    if (!/[*?[]/.test(part)) {
      found = found.map((folder) => (folder === "" ? part || "/" : join(folder, part)));
      continue;
    }
    const fits = patternOf(part);
    const next: string[] = [];
    for (const folder of found) {
      const entries = await readdir(folder).catch((): string[] => []);
      const matching = entries.filter((name) => fits.test(name) && (part.startsWith(".") || !name.startsWith(".")));
      next.push(...matching.sort().map((name) => join(folder, name)));
    }
    found = next.slice(0, maxFiles + 1);
  }
  return found;
}

function patternOf(part: string): RegExp {
  let source = "";
  for (let at = 0; at < part.length; at++) {
    const letter = part.charAt(at);
    const set = letter === "[" ? /^\[[!^]?\]?[^\]]*\]/.exec(part.slice(at))?.[0] : undefined;
    if (letter === "*") source += source.endsWith(".*") ? "" : ".*";
    else if (letter === "?") source += ".";
    else if (set !== undefined) {
      const inside = set.slice(1, -1).replace(/^[!^]/, "");
      source += `[${/^\[[!^]/.test(set) ? "^" : ""}${inside.replaceAll(/[\\\]^[]/g, "\\$&")}]`;
      at += set.length - 1;
    } else source += letter.replaceAll(/[.+^${}()|\\[\]]/g, "\\$&");
  }
  try {
    return new RegExp(`^${source}$`, "s");
  } catch {
    // A range that runs backwards matches nothing.
    return /^(?!)/;
  }
}
