import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { sources } from "../../scripts/bundles.mjs";
import {
  createMessageConnection,
  IPCMessageReader,
  IPCMessageWriter,
  type MessageConnection,
} from "vscode-languageserver/node";

interface Position {
  readonly line: number;
  readonly character: number;
}
interface Diagnostic {
  readonly range: { readonly start: Position; readonly end: Position };
  readonly severity: number;
  readonly message: string;
  readonly code: string;
  readonly source: string;
}
interface Published {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly Diagnostic[];
}

/** The server as the editor runs it: a process of its own, spoken to over IPC. */
class Editor {
  readonly #process: ChildProcess;
  readonly #connection: MessageConnection;
  readonly #published: Published[] = [];
  readonly #waiting = new Set<() => void>();
  exit: number | undefined;

  constructor(serverModule: string) {
    this.#process = fork(serverModule, ["--node-ipc"], { stdio: "inherit" });
    this.#process.on("exit", (code) => (this.exit = code ?? -1));
    this.#connection = createMessageConnection(
      new IPCMessageReader(this.#process),
      new IPCMessageWriter(this.#process),
    );
    this.#connection.onNotification("textDocument/publishDiagnostics", (published: Published) => {
      this.#published.push(published);
      for (const wake of this.#waiting) wake();
    });
    this.#connection.listen();
  }

  async start(options: unknown): Promise<Record<string, unknown>> {
    const params = { processId: process.pid, rootUri: null, capabilities: {}, initializationOptions: options };
    const { capabilities } = await this.#connection.sendRequest<{ capabilities: Record<string, unknown> }>(
      "initialize",
      params,
    );
    await this.#connection.sendNotification("initialized", {});
    return capabilities;
  }

  async open(uri: string, text: string, languageId = "yaml"): Promise<void> {
    await this.#connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri, languageId, version: 1, text },
    });
  }

  async change(uri: string, version: number, text: string): Promise<void> {
    const textDocument = { uri, version };
    await this.#connection.sendNotification("textDocument/didChange", { textDocument, contentChanges: [{ text }] });
  }

  async close(uri: string): Promise<void> {
    await this.#connection.sendNotification("textDocument/didClose", { textDocument: { uri } });
  }

  async diagnostics(uri: string, version?: number): Promise<readonly Diagnostic[]> {
    for (;;) {
      const found = this.#published.find((one) => one.uri === uri && one.version === version);
      if (found) return found.diagnostics;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  has(uri: string): boolean {
    return this.#published.some((one) => one.uri === uri);
  }

  ask<T>(method: string, uri: string, position: Position): Promise<T> {
    return this.#connection.sendRequest<T>(`textDocument/${method}`, { textDocument: { uri }, position });
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    await this.#connection.sendRequest("shutdown");
    await this.#connection.sendNotification("exit");
    await gone;
    this.#connection.dispose();
  }
}

const uri = "file:///project/ml-session.yaml";
const sketch = readFileSync("test/fixtures/session/sketch.yaml", "utf8");

function positionIn(text: string, words: string, more = 0): Position {
  const at = text.indexOf(words) + more;
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

describe("the language server", () => {
  const folder = mkdtempSync(join(tmpdir(), "ml-session-server-"));
  const serverModule = join(folder, "server.js");
  let editor: Editor;
  before(async () => {
    await build({
      entryPoints: ["src/server/main.ts"],
      outfile: serverModule,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      logLevel: "warning",
      ...sources,
    });
    editor = new Editor(serverModule);
    const capabilities = await editor.start({ logDiagnostics: true });
    assert.equal(capabilities["hoverProvider"], true);
  });
  after(async () => {
    await editor.stop();
    assert.equal(editor.exit, 0);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a session file with `|` where the cursor is, and asks for completions there. */
  async function complete(name: string, marked: string): Promise<string[]> {
    const at = positionIn(marked, "|");
    const own = `file:///${name}/ml-session.yaml`;
    await editor.open(own, marked.replace("|", ""));
    const items = await editor.ask<{ label: string }[]>("completion", own, at);
    return items.map(({ label }) => label);
  }

  test("shows a session file's problems, as one types, and none when it is closed", async () => {
    await editor.open(uri, sketch.replace("needs: [vllm]", "needs: [vlm]"));
    const [wrong] = (await editor.diagnostics(uri, 1)).filter(({ severity }) => severity === 1);
    assert.deepEqual([wrong?.code, wrong?.source], ["reference", "ML Session"]);
    assert.deepEqual(wrong?.range.start, positionIn(sketch, "vllm]"));
    await editor.change(uri, 2, sketch);
    assert.ok(
      (await editor.diagnostics(uri, 2)).every(({ severity, code }) => severity === 2 && code === "unsupported"),
    );
    const other = "untitled:ml-session.local.yaml";
    await editor.open(other, "session: s\nhosts: { h: {} }\nstages: {");
    assert.equal((await editor.diagnostics(other, 1))[0]?.code, "syntax");
    await editor.close(other);
    assert.deepEqual(await editor.diagnostics(other), []);
  });

  test("explains keys and shows values with their placeholders filled in", async () => {
    const hover = await editor.ask<{ contents: { value: string } }>(
      "hover",
      uri,
      positionIn(sketch, 'log: "{{data}}/download', 8),
    );
    assert.match(hover.contents.value, /The file that the output goes to/);
    assert.match(hover.contents.value, /\/data\/eagle3\/download\.log/);
    const key = await editor.ask<{ contents: { value: string } }>("hover", uri, positionIn(sketch, "stalled_after", 3));
    assert.match(key.contents.value, /progress may stand still/);
    assert.equal(await editor.ask("hover", uri, positionIn(sketch, "# all shards", 4)), null);
  });

  test("goes to what a name means", async () => {
    const needs = await editor.ask<{ range: { start: Position } }>(
      "definition",
      uri,
      positionIn(sketch, "needs: [extract", 10),
    );
    assert.deepEqual(needs.range.start, positionIn(sketch, "extract: {"));
    const host = await editor.ask<{ range: { start: Position } }>(
      "definition",
      uri,
      positionIn(sketch, "host: gpu8", 7),
    );
    assert.deepEqual(host.range.start, positionIn(sketch, "gpu8:"));
    const data = await editor.ask<{ range: { start: Position } }>(
      "definition",
      uri,
      positionIn(sketch, "{{data}}/download.log", 4),
    );
    assert.deepEqual(data.range.start, positionIn(sketch, "data: /data"));
    assert.equal(await editor.ask("definition", uri, positionIn(sketch, "hf download", 1)), null);
  });

  test("completes keys, values and names where the cursor is", async () => {
    const head = "session: s\nhosts:\n  gpu8: { ssh: gpu8 }\nstages:\n  a: { command: x }\n";
    const keys = await complete("keys", `${head}  b:\n    comm|`);
    assert.ok(keys.includes("command") && keys.includes("needs") && !keys.includes("hosts"));
    assert.deepEqual((await complete("top", "session: s\n|")).sort(), [
      "defaults",
      "hosts",
      "notify",
      "services",
      "stages",
      "vars",
    ]);
    assert.ok((await complete("flow", `${head}  b: { command: y, | }`)).includes("gpus"));
    assert.ok((await complete("empty", `${head}  b:\n    command: y\n    |\n`)).includes("log"));
    assert.deepEqual(await complete("kind", `${head}  b:\n    kind: tr|`), [
      "download",
      "inference",
      "extraction",
      "training",
      "other",
    ]);
    assert.deepEqual(await complete("needs", `${head}  b: { needs: [|] }`), ["a"]);
    assert.deepEqual(await complete("list", `${head}  b:\n    needs:\n      - |\n`), ["a"]);
    assert.deepEqual(await complete("host", `${head}  b:\n    host: |\n`), ["gpu8"]);
    assert.ok((await complete("signal", `${head}  b: { stop: { signal: | } }`)).includes("USR1"));
    assert.deepEqual(await complete("comment", `${head}  # nee|`), []);
  });

  test("finds failures in a log, with their cause and cure", async () => {
    const log = "file:///logs/download.log";
    const line = "nohup: failed to run command 'huggingface-cli': No such file or directory";
    const text = `start 🚀\n 10%|#| 1/10\r 20%|##| 2/10\nfine\n${line}\n`;
    await editor.open(log, text, "log");
    const [found, ...more] = await editor.diagnostics(log, 1);
    assert.deepEqual(more, []);
    assert.ok(found);
    assert.equal(found.code, "command-not-found");
    assert.equal(found.source, "ML Session");
    assert.deepEqual(found.range.start, positionIn(text.replaceAll("\r", "\n"), line));
    assert.equal(found.range.end.character, line.length);
    const hover = await editor.ask<{ contents: { kind: string; value: string } }>("hover", log, found.range.start);
    assert.deepEqual(hover.contents, { kind: "plaintext", value: found.message });
    await editor.close(log);
    assert.deepEqual(await editor.diagnostics(log), []);
  });

  test("survives large, odd and quickly closed documents", async () => {
    const big = "file:///logs/big.log";
    const line = "step 1/10 loss 0.5 🚀\n";
    await editor.open(big, `${line.repeat(500_000)}bash: hf: command not found\n`, "log");
    const [found] = await editor.diagnostics(big, 1);
    assert.equal(found?.range.start.line, 500_000);
    const quick = "file:///logs/quick.log";
    await editor.open(quick, line.repeat(1000), "log");
    await editor.close(quick);
    assert.deepEqual(await editor.diagnostics(quick), []);
    for (const [i, text] of ["\ud800", "\0\u001b[", "{{{{", "a: &a [*a]", "x".repeat(100_000)].entries()) {
      const odd = `file:///odd${i}/ml-session.yaml`;
      await editor.open(odd, text);
      await editor.open(`file:///odd${i}/x.log`, text, "plaintext");
      assert.ok((await editor.diagnostics(odd, 1)).length > 0);
      assert.deepEqual(await editor.diagnostics(`file:///odd${i}/x.log`, 1), []);
      for (const method of ["hover", "completion", "definition"])
        await editor.ask(method, odd, { line: 0, character: 1 });
    }
    assert.equal(editor.exit, undefined);
  });

  test("leaves logs and other files alone when told so", async () => {
    const silent = new Editor(serverModule);
    await silent.start({ logDiagnostics: false });
    await silent.open("file:///a.log", "bash: hf: command not found\n", "log");
    await silent.open("file:///other.yaml", "a: [");
    await silent.open(uri, sketch);
    await silent.diagnostics(uri, 1);
    await silent.stop();
    assert.deepEqual([silent.has("file:///a.log"), silent.has("file:///other.yaml")], [false, false]);
  });
});
