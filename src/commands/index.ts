import * as vscode from "vscode";
import { isConnectError, isExpected, messageOf } from "../core/errors";
import { combine, type Disposable } from "../core/lifecycle";
import type { Logger } from "../core/ports";
import type { TreeNode } from "../core/session/nodes";
import { acknowledge } from "./acknowledge";
import { applyCure } from "./applyCure";
import { checkLaunch } from "./checkLaunch";
import { connect } from "./connect";
import { disconnect } from "./disconnect";
import { findProgram } from "./findProgram";
import { forgetSecret } from "./forgetSecret";
import { launchPipeline } from "./launchPipeline";
import { launchStage } from "./launchStage";
import { morningReport } from "./morningReport";
import { newSessionFile } from "./newSessionFile";
import { openLog } from "./openLog";
import { openSessionFile } from "./openSessionFile";
import { restartFailedMembers } from "./restartFailedMembers";
import { restartStage } from "./restartStage";
import type { CommandContext } from "./shared/context";
import { setSecret } from "./setSecret";
import { stopPipeline } from "./stopPipeline";
import { stopStage } from "./stopStage";
import { stopWatching } from "./stopWatching";
import { watchRemoteLog } from "./watchRemoteLog";

type Run = (context: CommandContext, node: TreeNode | undefined, more: unknown) => Promise<void> | void;

const table: Readonly<Record<string, Run>> = {
  "mlSession.connect": connect,
  "mlSession.disconnect": disconnect,
  "mlSession.launchStage": launchStage,
  "mlSession.checkLaunch": checkLaunch,
  "mlSession.findProgram": (context, node) => findProgram(context, node),
  "mlSession.launchPipeline": launchPipeline,
  "mlSession.stopPipeline": stopPipeline,
  "mlSession.restartFailedMembers": restartFailedMembers,
  "mlSession.stopStage": stopStage,
  "mlSession.restartStage": (context, node) => restartStage(context, node),
  "mlSession.restartDownload": (context, node) => restartStage(context, node, "download"),
  "mlSession.restartInference": (context, node) => restartStage(context, node, "inference"),
  "mlSession.restartExtraction": (context, node) => restartStage(context, node, "extraction"),
  "mlSession.restartTraining": (context, node) => restartStage(context, node, "training"),
  "mlSession.applyCure": (context, node, more) => applyCure(context, node, typeof more === "string" ? more : undefined),
  "mlSession.openLog": (context, node, more) => openLog(context, node, offsetIn(more)),
  "mlSession.watchRemoteLog": watchRemoteLog,
  "mlSession.stopWatching": stopWatching,
  "mlSession.acknowledge": acknowledge,
  "mlSession.setSecret": setSecret,
  "mlSession.forgetSecret": forgetSecret,
  "mlSession.openSessionFile": openSessionFile,
  "mlSession.newSessionFile": newSessionFile,
  "mlSession.showCharts": (context, node) => {
    context.showCharts(node);
  },
  "mlSession.morningReport": morningReport,
  "mlSession.openDemo": (context) => context.openDemo(),
  "mlSession.showOutput": (context) => {
    context.showOutput();
  },
};

/**
 * Registers all commands. The one place where a command's error meets the person: foreseen ones in their own words,
 * a connection's as a state in the tree (it is there already), bugs as one short message with the log.
 */
export function registerCommands(context: CommandContext, logger: Logger): Disposable {
  return combine(
    ...Object.entries(table).map(([id, run]) =>
      vscode.commands.registerCommand(id, async (node: unknown, more: unknown) => {
        try {
          await run(context, asNode(node), more);
        } catch (error) {
          await tell(error, id, context, logger);
        }
      }),
    ),
  );
}

async function tell(error: unknown, id: string, context: CommandContext, logger: Logger): Promise<void> {
  if (isConnectError(error)) {
    // A host that is away is tried again by itself and says so in the tree; what needs a person is said to them.
    if (error.reason !== "unreachable") void vscode.window.showWarningMessage(error.message);
    return;
  }
  if (isExpected(error)) {
    void vscode.window.showWarningMessage(error.message);
    return;
  }
  logger.error(`${id} failed`, error);
  const show = "Show Log";
  const choice = await vscode.window.showErrorMessage(`ML Session: ${messageOf(error)}`, show);
  if (choice === show) context.showOutput();
}

/** The byte of the file that a row names: its click says `{ offset }`. */
function offsetIn(value: unknown): number | undefined {
  return typeof value === "object" && value !== null && "offset" in value && typeof value.offset === "number"
    ? value.offset
    : undefined;
}

/** Rows of our views are nodes or carry one; whatever else VS Code or a keybinding passes is nobody. */
function asNode(value: unknown): TreeNode | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("node" in value) return asNode(value.node);
  return "kind" in value && "session" in value && typeof value.session === "string" ? (value as TreeNode) : undefined;
}
