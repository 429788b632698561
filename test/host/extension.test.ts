import assert from "node:assert/strict";
import { extensions } from "vscode";
import { describe, it } from "../rig/suite";

const id = "ml-session-monitor.ml-session-monitor";

describe("the extension", () => {
  it("is found and activates", async () => {
    const extension = extensions.getExtension(id);
    assert.ok(extension, `${id} is not there`);
    await extension.activate();
    assert.equal(extension.isActive, true);
  });
});
