import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";

const example = `# What runs where. Watched and started by ML Session Monitor.
session: my-run
hosts:
  gpu:
    ssh: gpu            # an alias of ~/.ssh/config, or user@host:port, or local
    # path: [/root/ml-env/bin]
stages:
  train:
    kind: training      # download, inference, extraction, training, other
    command: python train.py
    cwd: ~/
    log: ~/train.log
    # done_when: { files: ~/out/model.safetensors, min_size: 1 GB }
`;

/** Create Session File: an example to fill in, in the first workspace folder. An existing one is only opened. */
export async function newSessionFile(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new ExpectedError("Open a folder first: the session file lives in it.");
  const uri = vscode.Uri.joinPath(folder.uri, "ml-session.yaml");
  const exists = await vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
  if (!exists) await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(example));
  await vscode.window.showTextDocument(uri);
}
