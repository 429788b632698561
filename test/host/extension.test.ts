import assert from "node:assert/strict";
import { type Extension, commands, extensions } from "vscode";
import { describe, it } from "../rig/suite";

const id = "ml-session-monitor.ml-session-monitor";

interface Manifest {
  readonly contributes?: { readonly commands?: readonly { readonly command: string }[] };
}

function found(): Extension<unknown> {
  const extension = extensions.getExtension<unknown>(id);
  assert.ok(extension, `${id} is not there`);
  return extension;
}

describe("the extension", () => {
  it("is found and activates", async () => {
    await found().activate();
    assert.equal(found().isActive, true);
  });

  it("registers every command that its manifest promises", async () => {
    await found().activate();
    const manifest = found().packageJSON as Manifest;
    const promised = (manifest.contributes?.commands ?? []).map(({ command }) => command);
    const registered = new Set(await commands.getCommands(true));
    assert.notEqual(promised.length, 0);
    assert.deepEqual(
      promised.filter((command) => !registered.has(command)),
      [],
    );
  });
});
