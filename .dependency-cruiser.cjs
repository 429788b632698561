/** Who may import whom, as in CONTRIBUTING.md. A zone may always import itself. */
const zones = {
  core: [],
  host: [],
  protocol: ["core"],
  ssh: ["core", "host"],
  views: ["core", "protocol"],
  commands: ["core"],
  client: ["core", "protocol"],
  server: ["core", "protocol"],
  webview: ["core", "protocol"],
  demo: ["core", "ssh"],
};
/** Zone → packages that it may use. */
const packages = {
  core: ["yaml", "zod"],
  host: [],
  protocol: [],
  ssh: ["ssh2", "ssh-config", "@types/ssh2", "@types/node"],
  views: ["vscode", "@types/vscode"],
  commands: ["vscode", "@types/vscode"],
  client: ["vscode", "@types/vscode", "vscode-languageclient"],
  server: ["vscode-languageserver", "vscode-languageserver-textdocument", "vscode-languageserver-types"],
  webview: ["chart.js"],
  demo: ["ssh2", "@types/ssh2", "@types/node"],
};
const error = (name, from, to) => ({ name, severity: "error", from, to });
const directions = Object.entries(zones).map(([zone, others]) =>
  error(
    `${zone}-imports`,
    { path: `^src/${zone}/` },
    { path: "^src/", pathNot: [zone, ...others].map((z) => `^src/${z}/`) },
  ),
);
const npm = ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "unknown"];
const uses = Object.entries(packages).map(([zone, names]) =>
  error(
    `${zone}-packages`,
    { path: `^src/${zone}/` },
    { dependencyTypes: npm, pathNot: names.map((n) => `^(node_modules/)?${n}(/|$)`) },
  ),
);

module.exports = {
  forbidden: [
    ...directions,
    ...uses,
    error("no-cycles", {}, { circular: true }),
    error(
      "node-stays-out",
      { path: "^src/(core|host|protocol|views|commands|webview)/" },
      { dependencyTypes: ["core"] },
    ),
    error("only-ssh-reads-host-scripts", { path: "^src/", pathNot: "^src/(ssh|host)/" }, { path: "^src/host/" }),
    error(
      "views-are-apart",
      { path: "^src/views/(?!shared)([^/]+)" },
      { path: "^src/views/", pathNot: "^src/views/($1|shared/)" },
    ),
    error(
      "commands-are-apart",
      { path: "^src/commands/(?!index|shared)([^/]+)" },
      { path: "^src/commands/", pathNot: "^src/commands/($1|shared/)" },
    ),
    error("entry-is-not-imported", {}, { path: "^src/(extension|server/main|webview/main)\\.ts$" }),
    error("root-files-are-the-entrys", { path: "^src/", pathNot: "^src/[^/]+\\.ts$" }, { path: "^src/[^/]+\\.ts$" }),
    error("not-from-tests", { path: "^src/" }, { path: "^(test|scripts)/" }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "\\.sh$" },
  },
};
