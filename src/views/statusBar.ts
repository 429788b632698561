import * as vscode from "vscode";
import { combine, toDisposable, type Disposable } from "../core/lifecycle";
import type { Clock } from "../core/ports";
import type { SessionReader } from "../core/session/store";
import { summarise, type Summary } from "../core/session/summary";
import { seldom } from "./shared/seldom";

/** The one item in the status bar: what runs, how far, when it is through. Hidden while no session is open. */
export function registerStatusBar(deps: { readonly sessions: SessionReader; readonly clock: Clock }): Disposable {
  const item = vscode.window.createStatusBarItem("mlSession.status", vscode.StatusBarAlignment.Left, 10);
  item.name = "ML Session";
  item.command = "mlSession.stages.focus";
  let shown: Summary | undefined;
  const ending = new AbortController();
  const update = seldom(deps.clock, ending.signal, () => {
    const summary = summarise([...deps.sessions.sessions.values()], deps.clock.now());
    if (!summary) item.hide();
    else if (!same(summary, shown)) draw(item, summary);
    if (summary && !shown) item.show();
    shown = summary;
  });
  update();
  const end = toDisposable(() => {
    ending.abort();
  });
  return combine(end, item, deps.sessions.onDidChange(update));
}

function same(a: Summary, b: Summary | undefined): boolean {
  return a.text === b?.text && a.tooltip === b.tooltip && a.alarm === b.alarm;
}

function draw(item: vscode.StatusBarItem, summary: Summary): void {
  item.text = summary.text;
  // Icons, but neither trusted nor HTML: names come from session files and hosts.
  item.tooltip = new vscode.MarkdownString(summary.tooltip, true);
  item.accessibilityInformation = { label: summary.spoken, role: "button" };
  item.backgroundColor = summary.alarm ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
}
