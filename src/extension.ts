import { appendFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { posix } from "node:path";
import * as vscode from "vscode";
import { registerCommands } from "./commands/index";
import { createApproval } from "./commands/shared/approval";
import type { CommandContext } from "./commands/shared/context";
import { messageOf } from "./core/errors";
import { FollowedLogs } from "./core/followedLogs";
import { Launcher, type LauncherContext } from "./core/launcher";
import { LaunchesUnderWay } from "./core/launchesUnderWay";
import { combine, type Disposable } from "./core/lifecycle";
import { OpenSessions } from "./core/openSessions";
import { PipelineRunner } from "./core/pipelineRunner";
import { Retries } from "./core/retries";
import type { Clock, Logger } from "./core/ports";
import type { TreeNode } from "./core/session/nodes";
import { reportLines } from "./core/session/report";
import { SessionStore } from "./core/session/store";
import { createClock } from "./core/systemClock";
import { DemoSession, demoSession, type DemoMode } from "./demoSession";
import { keptPipelines } from "./keptPipelines";
import { LanguageSide } from "./languageSide";
import { createOutput } from "./output";
import { onNetworkChange } from "./networkChanges";
import { WorkspaceSessionFiles } from "./sessionFiles";
import { createSecrets } from "./secrets";
import { readSettings } from "./settings";
import { createSshSide, withWindowHost, type SshSide } from "./sshSide";
import { createClaim } from "./toldFailures";
import { registerAlertsTree } from "./views/alertsTree";
import { registerCharts } from "./views/charts/charts";
import { registerGpusTree } from "./views/gpusTree";
import { registerMorningReport } from "./views/morningReport";
import { registerNotifications } from "./views/notifications";
import { registerRemoteLogs } from "./views/remoteLog/remoteLog";
import { registerStagesTree } from "./views/stagesTree";
import { registerStatusBar } from "./views/statusBar";
import { WorkspaceWatches } from "./watches";

/** The picture changes at most so often; sooner than this nobody sees a difference. */
const coalesceMs = 200;

/** What must be ended before the window closes, awaited. */
let ending: (() => Promise<void>) | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const { channel, logger } = createOutput();
  const clock = createClock({ now: () => Date.now(), after: afterMs });
  const isTrusted = (): boolean => vscode.workspace.isTrusted;
  const store = new SessionStore((run) => ({ dispose: afterMs(coalesceMs, run) }));
  const logs = new FollowedLogs();
  const open = new OpenSessions({ store, logs, clock, logger, loadWatch: () => import("./core/hostWatch") });
  const ssh = createSshSide({ memory: context.globalState, clock, logger, isTrusted });
  const language = new LanguageSide(context.asAbsolutePath("dist/server.js"), channel, logger);
  const connectQuietly = (session: string): void => void connectKnownHosts(session, { store, open, ssh });
  const files = new WorkspaceSessionFiles(open, ssh.connector, logger, (session) => {
    language.wake();
    if (session !== demoSession) connectQuietly(session);
  });
  const demo = new DemoSession({ clock, logger, isTrusted }, open, files);
  const watches = new WorkspaceWatches(open, ssh.connector, context.workspaceState, () => demo.close());
  const secrets = createSecrets(context.secrets, context.globalState);
  const launcher = launcherOver(open, context.globalState, { store, secrets, isTrusted, clock, logger });
  const unasked = { store, launcher, underWay: new LaunchesUnderWay(), isTrusted, clock, logger };
  const pipelines = new PipelineRunner({ ...unasked, memory: keptPipelines(context.workspaceState, demoSession) });
  const claim = createClaim(context.globalStorageUri.fsPath, demoSession, logger);
  const views = registerViews({ store, logs, clock, logger, place: context, claim });
  const commands: CommandContext = {
    sessions: store,
    store,
    open,
    launcher,
    pipelines,
    clock,
    isTrusted,
    files,
    watches,
    secrets,
    ...views.shown,
    openDemo: () => demo.open(),
    showOutput: () => {
      channel.show();
    },
    sshHosts: async () => withWindowHost(await configuredHosts(), context.extension.extensionKind),
  };
  const retries = new Retries(unasked);
  const owned = [channel, store, logs, open, files, views, retries, pipelines, registerCommands(commands, logger)];
  context.subscriptions.push(
    ...owned,
    language.watchDocuments(),
    whenTrusted(store, connectQuietly),
    whenNetworkMayBeBack(open),
  );
  ending = async () => {
    await Promise.all([views.keep(), demo.close()]);
    await language.stop();
  };
  await files.loadAll();
  for (const session of watches.restore()) connectQuietly(session);
  await openAskedDemo(context, demo, store, clock);
}

function launcherOver(
  open: OpenSessions,
  memory: vscode.Memento,
  parts: Pick<LauncherContext, "store" | "secrets" | "isTrusted" | "clock" | "logger">,
): Launcher {
  const approval = createApproval(memory, (session) => session === demoSession);
  return new Launcher({ ...parts, opsOf: open.opsOf.bind(open), approval, launchedFrom: me() });
}

/** Whatever tells that the network may be there again; the window sees to a computer that slept by itself. */
function whenNetworkMayBeBack(open: OpenSessions): Disposable {
  return combine(
    onNetworkChange(() => {
      open.checkLinks();
    }),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) open.tryNow();
    }),
  );
}

/** A workspace that becomes trusted connects as one that was from the start. */
function whenTrusted(store: SessionStore, connect: (session: string) => void): vscode.Disposable {
  return vscode.workspace.onDidGrantWorkspaceTrust(() => {
    for (const session of store.sessions.keys()) connect(session);
  });
}

export async function deactivate(): Promise<void> {
  await ending?.();
}

/** Who launches and stops from here, as runs say it. */
function me(): string {
  return `${userInfo().username}@${hostname()}`;
}

interface ViewParts {
  readonly store: SessionStore;
  readonly logs: FollowedLogs;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly place: Pick<vscode.ExtensionContext, "extensionUri" | "storageUri" | "workspaceState">;
  readonly claim: (key: string) => boolean;
}

/** All that is seen, and how commands bring it up. */
function registerViews({ store, logs, clock, logger, claim, place }: ViewParts): Disposable & {
  /** Keeps what charts have seen for the next window. */
  readonly keep: () => Promise<void>;
  readonly shown: Pick<CommandContext, "showLog" | "showCharts" | "showReport">;
} {
  const cures = (session: string, stage: string, member: string): ReturnType<typeof curesOf> =>
    curesOf(store, { kind: "stage", session, stage, member });
  const remoteLogs = registerRemoteLogs({ sessions: store, logs, clock, cures, extensionUri: place.extensionUri });
  const { extensionUri, storageUri } = place;
  const charts = registerCharts({ sessions: store, clock, logger, extensionUri, storageUri, notKept: demoSession });
  const enabled = (): boolean => readSettings().notifications;
  const reports = registerMorningReport({ sessions: store, clock, memory: place.workspaceState, enabled, claim });
  const parts = combine(
    remoteLogs,
    charts,
    reports,
    registerStagesTree({ sessions: store, clock }),
    registerGpusTree({ sessions: store, clock }),
    registerAlertsTree({ sessions: store, clock }),
    registerStatusBar({ sessions: store, clock }),
    registerNotifications({ sessions: store, clock, me: me(), enabled, claim }),
    store.onDidChange(() => {
      void vscode.commands.executeCommand("setContext", "mlSession.hasSession", store.sessions.size > 0);
      const goesOn = [...store.sessions.values()].some(({ pipeline }) => pipeline && pipeline.standing !== "through");
      void vscode.commands.executeCommand("setContext", "mlSession.hasPipeline", goesOn);
    }),
  );
  return {
    keep: () => charts.save(),
    dispose: () => {
      parts.dispose();
    },
    shown: {
      showLog: (session, ref, offset) => remoteLogs.show(session, ref.stage, ref.member, offset),
      showCharts: (node) => {
        charts.open(node);
      },
      showReport: (session) => reports.show(session),
    },
  };
}

function afterMs(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => {
    clearTimeout(timer);
  };
}

/** Connects by itself only where the workspace is trusted, the user wants it, and the last login asked nothing. */
async function connectKnownHosts(
  session: string,
  { store, open, ssh }: { readonly store: SessionStore; readonly open: OpenSessions; readonly ssh: SshSide },
): Promise<void> {
  if (!vscode.workspace.isTrusted || !readSettings().connectAutomatically) return;
  for (const [name, host] of store.sessions.get(session)?.hosts ?? []) {
    if (!ssh.asksNothing(host.definition)) continue;
    // What comes of it stands in the tree.
    await open.connect(session, name, false).catch(() => undefined);
  }
}

/** Cures as quick fixes: each mends with exactly what its title says. */
function curesOf(
  store: SessionStore,
  node: Extract<TreeNode, { kind: "stage" }>,
): readonly { readonly title: string; readonly command: string; readonly arguments: readonly unknown[] }[] {
  const { members } = store.sessions.get(node.session)?.stages.get(node.stage) ?? { members: [] };
  const cures = members.find((member) => member.name === node.member)?.cures ?? [];
  return cures.map((cure) => ({
    title: cure.title,
    command: "mlSession.applyCure",
    arguments: [node, cure.replacement],
  }));
}

/** Plain names of the SSH configuration that connections use; patterns are no hosts one could pick. */
async function configuredHosts(): Promise<readonly string[]> {
  const { sshConfigFile } = readSettings();
  const own = posix.join(userInfo().homedir.replaceAll("\\", "/"), ".ssh/config");
  const file = vscode.Uri.file(sshConfigFile === "" ? own : sshConfigFile);
  try {
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    const names = text.split("\n").flatMap((line) => /^\s*Host\s+(.*)$/i.exec(line)?.[1]?.trim().split(/\s+/) ?? []);
    return [...new Set(names.filter((name) => /^[\w.@-]+$/.test(name)))];
  } catch {
    return []; // no such file: there is nothing to pick from, and a name can be typed
  }
}

/**
 * `ML_SESSION_DEMO=ssh|memory` in the editor's environment opens the demo at the start (`npm run demo`);
 * `ML_SESSION_DEMO_REPORT=FILE` writes what the product sees of it, a JSON line for each stage and GPU that changed.
 */
async function openAskedDemo(
  context: vscode.ExtensionContext,
  demo: DemoSession,
  store: SessionStore,
  clock: Clock,
): Promise<void> {
  const mode = process.env["ML_SESSION_DEMO"];
  if (mode !== "ssh" && mode !== "memory") return;
  const report = process.env["ML_SESSION_DEMO_REPORT"];
  if (report !== undefined && report !== "") context.subscriptions.push(writeReport(report, mode, store, clock));
  await demo.open(mode).catch((error: unknown) => {
    void vscode.window.showErrorMessage(`The demo session could not be opened: ${messageOf(error)}`);
  });
}

function writeReport(file: string, mode: DemoMode, store: SessionStore, clock: Clock): vscode.Disposable {
  const written = new Map<string, string>();
  return vscode.Disposable.from(
    store.onDidChange(() => {
      const lines: string[] = [];
      for (const { key, line } of reportLines(store.sessions.values(), mode, clock.now())) {
        const same = written.get(key) === JSON.stringify({ ...line, at: 0 });
        if (!same) lines.push(JSON.stringify(line));
        written.set(key, JSON.stringify({ ...line, at: 0 }));
      }
      if (lines.length > 0) appendFileSync(file, `${lines.join("\n")}\n`);
    }),
  );
}
