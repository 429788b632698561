// Serves VS Code with the demo and opens it in a browser; runs until Ctrl-C. Started by scripts/demo.mjs.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { editorAddress } from "../test/rig/servedEditor";
import { startEditorServer } from "../test/rig/editorServer";

const server = await startEditorServer({ extension: ".", settings: { "window.autoDetectColorScheme": true } });
const address = editorAddress(server, {});
console.log(`The demo is at ${address}\nOpen the "ML Session" icon in the activity bar. Ctrl-C ends it.`);

const display =
  process.platform !== "linux" || process.env["DISPLAY"] !== undefined || "WAYLAND_DISPLAY" in process.env;
const opener = process.platform === "darwin" ? "/usr/bin/open" : "/usr/bin/xdg-open";
if (display && existsSync(opener)) spawn(opener, [address], { stdio: "ignore", detached: true }).unref();

// The server's own watch over this process stops it and removes what it wrote.
setInterval(() => undefined, 60_000);
