// The bundles: one a process or a moment of first use. Source maps stay outside the package.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import wabt from "wabt";

/** What the entry loads on first use only: module as written in its import → bundle. */
const onDemand = {
  "./ssh/connector": "./ssh.js",
  "./client/languageClient": "./client.js",
  "./demo/demo": "./demo.js",
  "./core/session/sessionFile": "./sessionFile.js",
  "./core/session/sessionEdit": "./sessionEdit.js",
  "./core/hostWatch": "./hostWatch.js",
};

/** Keeps `import("./ssh/connector")` in the entry as a require of the other bundle. */
const chunks = {
  name: "chunks",
  setup(build) {
    build.onResolve({ filter: /^\.\// }, ({ path, kind, importer }) =>
      kind === "dynamic-import" && /src\/[^/]+\.ts$/.test(importer) && path in onDemand
        ? { path: onDemand[path], external: true }
        : undefined,
    );
  },
};

/** ssh2 asks for these in a try block and does without; leaving them out keeps the package free of a platform. */
const nativeParts = ["cpu-features", "*.node"];

/** Bundle file → most kB it may weigh, minified. Activation loads extension.js alone. */
export const budgets = {
  "extension.js": 350,
  "hostWatch.js": 350,
  "ssh.js": 620,
  "client.js": 450,
  "demo.js": 660,
  "sessionFile.js": 250,
  "sessionEdit.js": 250,
  "server.js": 700,
  "webview.js": 300,
};

/** WebAssembly's text form becomes its binary one. */
const wat = {
  name: "wat",
  setup(build) {
    build.onLoad({ filter: /\.wat$/ }, async ({ path }) => {
      const { parseWat } = await wabt();
      const module = parseWat(path, readFileSync(path, "utf8"));
      module.validate();
      const { buffer } = module.toBinary({});
      module.destroy();
      return { contents: buffer, loader: "binary" };
    });
  },
};

/** Options shared with the bundles that tests and scripts are run from. */
export const sources = { loader: { ".sh": "text" }, plugins: [wat] };

export function bundles({ minify }) {
  const node = { platform: "node", target: "node22", format: "cjs", external: ["vscode", ...nativeParts] };
  const common = {
    bundle: true,
    minify,
    sourcemap: "linked",
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
    ...sources,
  };
  const make = (entry, outfile, options) => ({
    ...common,
    entryPoints: [entry],
    outfile: `dist/${outfile}`,
    ...options,
  });
  return [
    make("src/extension.ts", "extension.js", { ...node, plugins: [chunks, ...sources.plugins] }),
    make("src/ssh/connector.ts", "ssh.js", node),
    make("src/client/languageClient.ts", "client.js", node),
    make("src/demo/demo.ts", "demo.js", node),
    make("src/core/session/sessionFile.ts", "sessionFile.js", node),
    make("src/core/session/sessionEdit.ts", "sessionEdit.js", node),
    make("src/core/hostWatch.ts", "hostWatch.js", node),
    make("src/server/main.ts", "server.js", node),
    make("src/webview/main.ts", "webview.js", { platform: "browser", target: "es2022", format: "iife" }),
  ];
}

/** All files below a folder that end so. */
export function filesBelow(folder, end) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(end))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
