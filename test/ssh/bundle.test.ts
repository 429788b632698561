import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { build } from "esbuild";
import { bundles } from "../../scripts/bundles.mjs";

const folder = mkdtempSync(join(tmpdir(), "ssh-bundle-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("the SSH bundle works by itself, without native parts and without node_modules", { timeout: 300_000 }, async () => {
  const options = bundles({ minify: true }).find(({ outfile }) => outfile === "dist/ssh.js");
  assert.ok(options);
  await build({ ...options, outfile: join(folder, "ssh.js"), sourcemap: false });
  assert.deepEqual(readdirSync(folder), ["ssh.js"]);
  writeFileSync(join(folder, "use.cjs"), 'console.log(typeof require("./ssh.js").createConnector);\n');
  const said = execFileSync(process.execPath, ["use.cjs"], { cwd: folder, encoding: "utf8", env: { PATH: "" } });
  assert.equal(said, "function\n");
});
