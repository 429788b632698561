import * as vscode from "vscode";
import { ExpectedError } from "../../core/errors";
import { ofMember } from "../../core/session/definition";
import type { MemberRef } from "../../core/session/events";
import type { Session } from "../../core/session/model";
import type { PreflightFix } from "../../core/session/preflight";
import { checkSections, checkSum, type CheckRow, type CheckSection } from "../../core/session/preflightSections";
import { list } from "../../core/session/words";
import type { CommandContext } from "./context";
import { searchProgram } from "./programSearch";

/** What is to be checked. */
export interface CheckAsked {
  readonly session: Session;
  readonly refs: readonly MemberRef[];
  /** What is checked, in words for titles. */
  readonly name: string;
  /** See `Launcher.check`. */
  readonly setup?: "approved" | "all";
  /** Stages that follow, which the list offers to check as well. */
  readonly follow?: readonly string[];
}

interface RowItem extends vscode.QuickPickItem {
  readonly row?: CheckRow;
  readonly follow?: true;
}

/**
 * Looks at what the launches would meet and shows it as one list; a row with a fix applies it. `fixed`: one was applied,
 * so that what was known before may no longer hold; `follow`: the person wants what follows checked as well.
 */
export async function showCheck(context: CommandContext, asked: CheckAsked): Promise<"seen" | "fixed" | "follow"> {
  const { session, refs, name, setup, follow = [] } = asked;
  const checked = await vscode.window.withProgress(
    { location: { viewId: "mlSession.stages" }, title: `Looking at what ${name} would meet` },
    () => context.launcher.check(session.id, refs, setup),
  );
  const current = context.sessions.sessions.get(session.id) ?? session;
  const sections = checkSections(current, checked);
  const chosen = await vscode.window.showQuickPick([...itemsOf(sections), ...followItems(follow)], {
    title: `Check of ${name}: ${checkSum(sections)}`,
    placeHolder: "Nothing was started. A row with a fix applies it.",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen?.follow) return "follow";
  if (!chosen?.row?.fix) return "seen";
  await apply(context, current, chosen.row.ref, chosen.row.fix);
  return "fixed";
}

const icons = { ok: "$(pass)", warning: "$(warning)", error: "$(error)" } as const;

function itemsOf(sections: readonly CheckSection[]): readonly RowItem[] {
  return sections.flatMap(({ title, rows }): RowItem[] => [
    { label: title, kind: vscode.QuickPickItemKind.Separator },
    ...rows.map(itemOf),
  ]);
}

function itemOf(row: CheckRow): RowItem {
  const item = { label: `${icons[row.level]} ${row.name}`, description: row.says };
  return row.fix ? { ...item, detail: `$(lightbulb) ${fixWords(row.fix)}`, row } : item;
}

function followItems(follow: readonly string[]): readonly RowItem[] {
  if (follow.length === 0) return [];
  return [
    { label: "pipeline", kind: vscode.QuickPickItemKind.Separator },
    { label: "$(run-all) Check What Follows Too", description: list(follow), follow: true },
  ];
}

function fixWords(fix: PreflightFix): string {
  switch (fix.kind) {
    case "cure":
      return `Use ${fix.cure.replacement} in the session file: ${fix.cure.detail}`;
    case "find":
      return `Search the host for ${fix.program}`;
    case "secret":
      return `Set the secret ${fix.name}`;
    case "launch":
      return `Launch ${fix.stage}`;
    case "file":
      return "Open the session file at this stage";
  }
}

async function apply(context: CommandContext, session: Session, ref: MemberRef, fix: PreflightFix): Promise<void> {
  const stage = session.stages.get(ref.stage);
  const member = stage?.members.find(({ name }) => name === ref.member);
  if (!stage || !member) return;
  switch (fix.kind) {
    case "cure": {
      const { program, replacement } = fix.cure;
      if (await context.files.mend(session.id, ref.stage, fix.cure)) return;
      throw new ExpectedError(
        `The command of ${ref.stage} could not be changed by itself: put ${replacement} in place of ${program} in the session file.`,
      );
    }
    case "find": {
      const command = ofMember(stage.definition, ref.member).command ?? "";
      return searchProgram(context, { session, stage, member, ref }, fix.program, command);
    }
    case "secret": {
      const host = session.hosts.get(stage.definition.host)?.definition;
      if (host) await context.secrets.ask(host, fix.name);
      return;
    }
    case "launch": {
      const node = { kind: "stage", session: session.id, stage: fix.stage };
      await vscode.commands.executeCommand("mlSession.launchStage", node);
      return;
    }
    case "file":
      await context.files.show(session.id, (stage.definition.commandRange ?? stage.definition.range).from);
  }
}
