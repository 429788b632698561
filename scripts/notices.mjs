// The licences of what is bundled into the package, from esbuild's own list of inputs: THIRD_PARTY_NOTICES.txt.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { bundles } from "./bundles.mjs";

/** Folders of the packages that at least one bundle took something from. */
async function packageFolders() {
  const folders = new Set();
  for (const options of bundles({ minify: true })) {
    const { metafile } = await build({ ...options, write: false });
    for (const input of Object.keys(metafile.inputs)) {
      const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
      if (match !== null) folders.add(match[1]);
    }
  }
  return [...folders].sort();
}

function licenceText(folder) {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)(\.|$)/i.test(name));
  return file === undefined ? undefined : readFileSync(join(folder, file), "utf8").trim();
}

/** Writes the file and returns the packages it names; throws for one without a licence. */
export async function writeNotices(path) {
  const entries = (await packageFolders()).map((folder) => {
    const manifest = join(folder, "package.json");
    const { name, version, ...about } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {};
    // Older manifests have a list in place of one name.
    const license = about.license ?? about.licenses?.map(({ type }) => type).join(" or ");
    const text = licenceText(folder);
    if (text === undefined && license === undefined) throw new Error(`${folder} names no licence.`);
    return { name, version, license: license ?? "see below", text: text ?? `Licensed under ${license}.` };
  });
  const rule = "-".repeat(80);
  const parts = entries.map(
    ({ name, version, license, text }) => `${rule}\n${name} ${version} (${license})\n\n${text}\n`,
  );
  writeFileSync(path, `This extension contains the following packages.\n\n${parts.join("\n")}`);
  return entries.map(({ name, version, license }) => `${name} ${version} (${license})`);
}
