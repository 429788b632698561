import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickSession } from "./shared/pick";

/** Connect: one host, or all hosts of a session. The only place from which a person may be asked for a login. */
export async function connect(context: CommandContext, node?: TreeNode): Promise<void> {
  // Said here, so that no host's row keeps the words once the workspace is trusted.
  if (!context.isTrusted())
    throw new ExpectedError("This workspace is in Restricted Mode: nothing is connected to from it.");
  const session = await pickSession(context, node, "Connect");
  if (!session) return;
  const host = node?.kind === "host" ? node.host : undefined;
  await vscode.window.withProgress({ location: { viewId: "mlSession.stages" } }, () =>
    context.open.connect(session.id, host, true),
  );
}
