import * as vscode from "vscode";
import type { Logger } from "./core/ports";

/** The log channel "ML Session"; its level is VS Code's own. */
export function createOutput(): { readonly channel: vscode.LogOutputChannel; readonly logger: Logger } {
  const channel = vscode.window.createOutputChannel("ML Session", { log: true });
  const logger: Logger = {
    debug: (message) => {
      channel.debug(message);
    },
    info: (message) => {
      channel.info(message);
    },
    warn: (message) => {
      channel.warn(message);
    },
    error: (message, error) => {
      channel.error(message, ...(error === undefined ? [] : [error]));
    },
  };
  return { channel, logger };
}
