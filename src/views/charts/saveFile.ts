import * as vscode from "vscode";

/** Asks where to, and writes the file there. */
export async function saveFile(name: string, end: "png" | "csv", bytes: Uint8Array): Promise<void> {
  const words = end.toUpperCase();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = `${name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "")}.${end}`;
  const uri = await vscode.window.showSaveDialog({
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, file) }),
    filters: { [words]: [end] },
    title: `Save Charts as ${words}`,
  });
  if (!uri) return;
  try {
    await vscode.workspace.fs.writeFile(uri, bytes);
    vscode.window.setStatusBarMessage(`Saved ${uri.path.slice(uri.path.lastIndexOf("/") + 1)}`, 5000);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(`The charts could not be saved: ${why}`);
  }
}
