import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import {
  type CodeAction,
  type Diagnostic,
  DiagnosticSeverity,
  type TextDocument,
  type Uri,
  commands,
  languages,
  window,
  workspace,
} from "vscode";
import { describe, it } from "../rig/suite";
import { activated, hoversAt, logOf, sightings, until } from "./waiting";

const session = "demo:night";
const night = "eagle3-night";
const failing = "nohup: failed to run command 'huggingface-cli': No such file or directory";

async function openedLog(stage: string): Promise<TextDocument> {
  const uri = await until(`the log of ${stage}`, () => logOf(session, stage));
  return workspace.openTextDocument(uri);
}

const errors = (uri: Uri): readonly Diagnostic[] =>
  languages.getDiagnostics(uri).filter(({ severity }) => severity === DiagnosticSeverity.Error);

async function failingLine(): Promise<{ readonly document: TextDocument; readonly problem: Diagnostic }> {
  const document = await openedLog("download");
  const [problem] = await until("the failing line marked", () => {
    const found = errors(document.uri);
    return found.length > 0 && found;
  });
  assert.ok(problem);
  return { document, problem };
}

/** The command behind the light bulb at the failing line. */
async function cure(): Promise<CodeAction> {
  const { document, problem } = await failingLine();
  return until("the cure at the failing line", async () => {
    const actions = await commands.executeCommand<CodeAction[]>(
      "vscode.executeCodeActionProvider",
      document.uri,
      problem.range,
      "quickfix",
    );
    return actions.find(({ title }) => title.startsWith("Restart with "));
  });
}

async function sessionFile(): Promise<TextDocument> {
  await commands.executeCommand("mlSession.openSessionFile", { kind: "session", session });
  return until("the demo's session file", () => {
    const document = window.activeTextEditor?.document;
    return document?.uri.path.endsWith("/ml-session.yaml") === true && document;
  });
}

const comments = (text: string): readonly string[] => text.match(/#.*$/gm) ?? [];

describe("the demo night in memory", () => {
  it("runs the inference with a range for its end, and sees the download die", async () => {
    await activated();
    const died = await until("the failure", () => sightings(night, "download").find(({ state }) => state === "failed"));
    assert.equal(died.mode, "memory");
    assert.equal(died.failure, "command-not-found");
    assert.ok(died.cause && died.remedy);
    assert.ok(died.launchedAt !== undefined);
    await until("a finish", () => {
      const eta = sightings(night, "inference").at(-1)?.eta;
      return eta && eta.lo < eta.eta && eta.eta < eta.hi;
    });
  });

  it("marks the failing line of the remote log, and says cause and remedy there", async () => {
    const { document, problem } = await failingLine();
    assert.equal(document.languageId, "log");
    assert.equal(document.lineAt(problem.range.start.line).text, failing);
    assert.equal(problem.code, "command-not-found");
    assert.match(problem.message, /huggingface-cli/);
    const parts = await hoversAt(document.uri, problem.range.start);
    const words = parts.map(({ value }) => value).join("\n");
    assert.match(words, /`huggingface-cli`/);
    assert.match(words, /What helps/);
    assert.ok(parts.every(({ isTrusted, supportHtml }) => isTrusted !== true && supportHtml !== true));
  });

  it("goes to the failing line when the log is opened", async () => {
    const { document, problem } = await failingLine();
    await commands.executeCommand("mlSession.openLog", { kind: "stage", session, stage: "download" });
    assert.equal(window.activeTextEditor?.document, document);
    assert.equal(window.activeTextEditor.selection.active.line, problem.range.start.line);
  });

  it("does not let a remote log be written to", async () => {
    const { document } = await failingLine();
    const before = document.getText();
    await window.showTextDocument(document);
    await commands.executeCommand("type", { text: "x" });
    await commands.executeCommand("editor.action.deleteLines");
    assert.equal(document.getText(), before);
    assert.equal(document.isDirty, false);
  });

  it("follows a log that grows, each line once", async () => {
    const document = await openedLog("inference");
    const before = document.lineCount;
    await until("five more lines", () => document.lineCount >= before + 5);
    const lines = document.getText().split("\n");
    const progress = lines.filter((line) => line.startsWith("Progress: "));
    assert.equal(new Set(progress).size, progress.length);
    assert.equal(lines[0], "Model: /shared/kimi-k2.5-int4");
  });

  it("mends the session file by the quick fix and restarts; the stage finishes", async () => {
    const action = await cure();
    assert.equal(action.title, "Restart with /home/demo/ml-env/bin/hf");
    assert.equal(action.isPreferred, true);
    const { command } = action;
    assert.ok(command);
    const document = await sessionFile();
    const before = document.getText();
    const [firstRun] = sightings(night, "download").flatMap(({ run }) => run ?? []);

    await commands.executeCommand(command.command, ...(command.arguments as unknown[]));
    await until("the mended command", () => document.getText() !== before);
    const after = document.getText();
    const changed = after.split("\n").filter((line, index) => line !== before.split("\n")[index]);
    assert.equal(changed.length, 1);
    assert.match(changed[0] ?? "", /^ {4}command: nohup \/home\/demo\/ml-env\/bin\/hf download /);
    assert.deepEqual(comments(after), comments(before));
    assert.equal(document.isDirty, false, "saved");
    const done = await until("the download to finish", () =>
      sightings(night, "download").find(({ run, state }) => run !== firstRun && state === "finished"),
    );
    assert.match(String(Reflect.get(done, "command")), /ml-env\/bin\/hf download/);

    await window.showTextDocument(document);
    await commands.executeCommand("undo");
    assert.equal(document.getText(), before, "an edit like any other");
    await commands.executeCommand("redo");
    assert.equal(document.getText(), after);
    await document.save();
  });

  it("no longer marks the line of the run that was mended", async () => {
    const document = await openedLog("download");
    await until("no error marked", () => errors(document.uri).length === 0);
    assert.ok(document.getText().includes(failing), "what happened is still there to be read");
  });

  it("tells in its report what failed first, what mended it, and how the GPUs were used", async () => {
    await commands.executeCommand("mlSession.morningReport", { kind: "session", session });
    const report = await until("the report", () =>
      workspace.textDocuments.find(({ uri }) => uri.scheme === "ml-session-report"),
    );
    const text = report.getText();
    assert.match(text, /^# eagle3/);
    assert.match(text, /## What failed first\n\n\*\*download\*\*, .*: .*exit code 127/);
    assert.match(text, /It is finished/);
    assert.match(text, /GPU hours idle/);
    assert.match(text, /!\[Speed of inference\]\(data:image\/svg\+xml/);
    await commands.executeCommand("workbench.action.closeActiveEditor");
  });

  it("does nothing for a row that is not there", async () => {
    const nobody = { kind: "stage", session: "elsewhere", stage: "download" };
    for (const command of ["stopWatching", "openSessionFile", "restartStage", "stopStage", "acknowledge", "connect"])
      await commands.executeCommand(`mlSession.${command}`, nobody);
    assert.ok(await logOf(session, "download"));
  });
});

describe("the demo night over SSH", () => {
  let folder = "";

  it("begins anew by the command, on a real host where there is one", async () => {
    const old = dirname((await sessionFile()).uri.fsPath);
    const seen = sightings(night, "download").length;
    await commands.executeCommand("workbench.action.closeAllEditors");
    await commands.executeCommand("mlSession.openDemo");
    await until("the download dead again", () =>
      sightings(night, "download")
        .slice(seen)
        .some(({ state, failure }) => state === "failed" && failure === "command-not-found"),
    );
    folder = dirname((await sessionFile()).uri.fsPath);
    assert.notEqual(folder, old);
    assert.equal(existsSync(old), false, "the night before is cleared away");
    assert.equal(errors((await failingLine()).document.uri).length, 1);
  });

  it("leaves no process and no file when it is closed", async () => {
    if (process.platform === "linux") assert.notEqual(processesOf(folder).length, 0);
    await commands.executeCommand("workbench.action.closeAllEditors");
    await commands.executeCommand("mlSession.stopWatching", { kind: "session", session });
    await until("no process of the demo", () => processesOf(folder).length === 0);
    await until("no folder of the demo", () => !existsSync(folder));
    assert.equal(await logOf(session, "download"), undefined);
  });
});

/** Processes that live in a folder: its name is in their environment. */
function processesOf(folder: string): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(`=${folder}`);
    } catch {
      return false; // it has just ended, or is somebody else's
    }
  });
}
