import assert from "node:assert/strict";
import { test } from "node:test";
import { withEditor } from "../rig/servedEditor";

test("the extension shows its container in the activity bar, in both themes", async () => {
  await withEditor({ extension: "." }, async (editor) => {
    await editor.openView("ML Session");
    assert.notEqual((await editor.statusBarText()).length, 0);
    await editor.screenshot("container-dark");
    await editor.switchTheme("light");
    await editor.screenshot("container-light");
  });
});
