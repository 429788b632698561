import assert from "node:assert/strict";
import { type Extension, commands, extensions, workspace } from "vscode";
import { describe, it } from "../rig/suite";
import { activated } from "./waiting";

const id = "ml-session-monitor.ml-session-monitor";

interface Manifest {
  readonly contributes?: {
    readonly commands?: readonly { readonly command: string }[];
    readonly configuration?: { readonly properties?: Readonly<Record<string, unknown>> };
  };
}

function found(): Extension<unknown> {
  const extension = extensions.getExtension<unknown>(id);
  assert.ok(extension, `${id} is not there`);
  return extension;
}

describe("the extension", () => {
  it("is found and activates", async () => {
    await activated();
    assert.equal(found().isActive, true);
  });

  it("registers every command that its manifest promises, and no other", async () => {
    await activated();
    const manifest = found().packageJSON as Manifest;
    const promised = (manifest.contributes?.commands ?? []).map(({ command }) => command);
    const registered = await commands.getCommands(true);
    assert.notEqual(promised.length, 0);
    const own = registered.filter((command) => /^mlSession\.\w+$/.test(command));
    assert.deepEqual(own.sort(), promised.sort());
  });

  it("has the settings of its manifest, and a workspace cannot decide them for the person", () => {
    const manifest = found().packageJSON as Manifest;
    const settings = Object.keys(manifest.contributes?.configuration?.properties ?? {});
    assert.notEqual(settings.length, 0);
    const section = workspace.getConfiguration("mlSession");
    for (const setting of settings) {
      const name = setting.replace(/^mlSession\./, "");
      assert.notEqual(section.inspect(name)?.defaultValue, undefined, `${setting} has no default`);
    }
    // The folder's settings.json says otherwise for all three.
    assert.equal(section.get("connectAutomatically"), true);
    assert.equal(section.get("notifications.enabled"), true);
    assert.equal(section.get("ssh.configFile"), "");
  });
});
