import assert from "node:assert/strict";
import { WorkspaceEdit, commands, window, workspace } from "vscode";
import { describe, it } from "../rig/suite";
import { activated, inFolder, logOf, read, stagesSeen, until, write } from "./waiting";

const extra = "  extract:\n    kind: extraction\n    command: python extract.py\n    log: /data/extract.log\n";

function file(): { readonly uri: ReturnType<typeof inFolder>; readonly session: string } {
  const uri = inFolder("ml-session.yaml");
  return { uri, session: uri.toString() };
}

const isOpen = (stage: string) => logOf(file().session, stage);

describe("the session file of the open folder", () => {
  it("is a session with its stages", async () => {
    await activated();
    await until("the stages in the picture", () => stagesSeen("host-suite").length > 0);
    assert.deepEqual([...stagesSeen("host-suite")].sort(), ["download", "inference"]);
    assert.ok(await isOpen("inference"));
    assert.match(window.activeTextEditor?.document.getText() ?? "", /Connect to its host to see it/);
  });

  it("is shown at the stage whose row asks for it", async () => {
    const { uri, session } = file();
    await commands.executeCommand("mlSession.openSessionFile", { kind: "stage", session, stage: "inference" });
    const editor = window.activeTextEditor;
    assert.equal(editor?.document.uri.toString(), uri.toString());
    assert.match(editor.document.lineAt(editor.selection.active.line).text, /inference:/);
  });

  it("counts as it is saved, not as it is being written", async () => {
    const { uri, session } = file();
    const document = await workspace.openTextDocument(uri);
    const edit = new WorkspaceEdit();
    edit.insert(uri, document.positionAt(document.getText().length), extra);
    assert.equal(await workspace.applyEdit(edit), true);
    assert.equal(document.isDirty, true);
    assert.equal(await isOpenUnsaved(session), false);
    assert.equal(await document.save(), true);
    await until("the new stage", () => isOpen("extract"));
  });

  it("keeps the last good picture while it is broken, and takes up the mended one", async () => {
    const { uri, session } = file();
    const good = await read(uri);
    await write(uri, "session: host-suite\nhosts: [what: is: this\n");
    // A second file tells that the broken one has been seen: changes come in order.
    const other = inFolder("ml-session.local.yaml");
    await write(other, good.replace("host-suite", "second"));
    await until("the second session", () => logOf(other.toString(), "inference"));
    assert.ok(await isOpen("extract"));
    assert.ok(await isOpen("inference"));
    await write(uri, good.replace("  extract:", "  extraction:"));
    await until("the renamed stage", () => isOpen("extraction"));
    assert.equal(await logOf(session, "extract"), undefined);
  });

  it("closes its session when it is deleted", async () => {
    const other = inFolder("ml-session.local.yaml");
    await workspace.fs.delete(other);
    await until("the session closed", async () => (await logOf(other.toString(), "inference")) === undefined);
    assert.ok(await isOpen("inference"), "the other session goes on");
  });

  it("is not overwritten by Create Session File", async () => {
    const { uri } = file();
    const before = await read(uri);
    await commands.executeCommand("mlSession.newSessionFile");
    assert.equal(window.activeTextEditor?.document.uri.toString(), uri.toString());
    assert.equal(await read(uri), before);
  });
});

/** Closing all editors would ask what to do with the unsaved file, so only the log's is looked at. */
async function isOpenUnsaved(session: string): Promise<boolean> {
  await commands.executeCommand("mlSession.openLog", { kind: "stage", session, stage: "extract" });
  return window.activeTextEditor?.document.uri.scheme === "ml-session-log";
}
