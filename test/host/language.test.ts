import assert from "node:assert/strict";
import {
  type CompletionList,
  type Diagnostic,
  DiagnosticSeverity,
  type Location,
  Position,
  type TextDocument,
  type Uri,
  commands,
  languages,
  window,
  workspace,
} from "vscode";
import { describe, it } from "../rig/suite";
import { activated, hoversAt, inFolder, until, write } from "./waiting";

const text = `session: words
hosts:
  gpu8:
    ssh: gpu8
vars:
  data: /data/eagle3
stages:
  download:
    kind: download
    command: hf download x --local-dir {{data}}/draft
    nedes: []
  train:
    kind: training
    needs: [download, nobody]
    command: python train.py
    
`;

const own = (uri: Uri): readonly Diagnostic[] =>
  languages.getDiagnostics(uri).filter(({ source }) => source === "ML Session");

async function opened(uri: Uri): Promise<TextDocument> {
  const document = await workspace.openTextDocument(uri);
  await window.showTextDocument(document);
  return document;
}

function placeOf(document: TextDocument, words: string, into = 1): Position {
  const at = document.getText().indexOf(words);
  assert.notEqual(at, -1, `${words} is not in the document`);
  return document.positionAt(at + into);
}

async function hoverAt(uri: Uri, position: Position): Promise<string> {
  return (await hoversAt(uri, position)).map(({ value }) => value).join("\n");
}

describe("words on a session file", () => {
  // A file of the product's name in a folder below, so that the open session is left alone.
  const sessionFile = () => inFolder("words/ml-session.yaml");

  it("marks what is wrong where it is wrong", async () => {
    await activated();
    await write(sessionFile(), text);
    const document = await opened(sessionFile());
    const problems = await until("problems", () => {
      const found = own(document.uri);
      return found.length >= 2 && found;
    });
    const marked = problems.map(({ range, severity }) => ({ word: document.getText(range), severity }));
    assert.ok(marked.some(({ word, severity }) => word === "nedes" && severity === DiagnosticSeverity.Warning));
    assert.ok(marked.some(({ word, severity }) => word === "nobody" && severity === DiagnosticSeverity.Error));
  });

  it("says what a key means, and what a value becomes", async () => {
    const document = await opened(sessionFile());
    assert.notEqual(await hoverAt(document.uri, placeOf(document, "kind: download")), "");
    assert.match(await hoverAt(document.uri, placeOf(document, "{{data}}")), /--local-dir \/data\/eagle3\/draft/);
  });

  it("completes keys and names", async () => {
    const document = await opened(sessionFile());
    const at = new Position(document.lineCount - 2, 4);
    const keys = await labels(document.uri, at);
    assert.ok(keys.includes("done_when"), keys.join(", "));
    assert.ok(!keys.includes("command"), "what stands there is not offered again");
    const kinds = await labels(document.uri, placeOf(document, "training", 0));
    assert.ok(kinds.includes("inference"), kinds.join(", "));
  });

  it("leads from a name to what it names", async () => {
    const document = await opened(sessionFile());
    const found = await commands.executeCommand<Location[]>(
      "vscode.executeDefinitionProvider",
      document.uri,
      placeOf(document, "[download", 2),
    );
    assert.equal(found[0]?.range.start.line, placeOf(document, "  download:").line);
  });

  it("takes its marks away with what was wrong", async () => {
    const document = await opened(sessionFile());
    await write(document.uri, text.replace("    nedes: []\n", "").replace(", nobody", "").trimEnd());
    await until("no problems", () => own(document.uri).length === 0);
  });
});

async function labels(uri: Uri, position: Position): Promise<string[]> {
  const list = await commands.executeCommand<CompletionList>("vscode.executeCompletionItemProvider", uri, position);
  return list.items.map(({ label }) => (typeof label === "string" ? label : label.label));
}

describe("words on a local log", () => {
  it("marks the failing line, with its cause and what helps", async () => {
    const document = await opened(inFolder("train.log"));
    assert.equal(document.languageId, "log");
    const [problem] = await until("a problem", () => {
      const found = own(document.uri);
      return found.length > 0 && found;
    });
    assert.ok(problem);
    assert.equal(problem.range.start.line, 2);
    assert.equal(problem.code, "command-not-found");
    assert.equal(problem.severity, DiagnosticSeverity.Error);
    assert.match(problem.message, /huggingface-cli/);
    assert.match(await hoverAt(document.uri, problem.range.start), /huggingface/);
  });
});
