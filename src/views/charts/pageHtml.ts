import * as vscode from "vscode";

/** The charts page. Nothing of it comes from a host: titles and labels are sent as data. */
export function pageHtml(webview: vscode.Webview, extensionUri: vscode.Uri): string {
  const script = webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, "dist", "webview.js")).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, "media", "charts.css")).toString();
  const nonce = newNonce();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="${style}">
    <title>Charts</title>
  </head>
  <body>
    <main id="page"></main>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>`;
}

function newNonce(): string {
  return [...globalThis.crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
