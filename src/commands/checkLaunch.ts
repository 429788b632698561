import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import { ofMember } from "../core/session/definition";
import { memberTitle } from "../core/session/memberTitle";
import type { TreeNode } from "../core/session/nodes";
import type { PreflightFix, PreflightRow } from "../core/session/preflight";
import { amount } from "../core/session/words";
import type { CommandContext } from "./shared/context";
import { pickStage, type PickedStage } from "./shared/pick";
import { searchProgram } from "./shared/programSearch";

interface RowItem extends vscode.QuickPickItem {
  readonly fix?: PreflightFix;
}

/** Check Before Launch…: what a launch of the stage would meet, as a list; a row with a fix applies it. */
export async function checkLaunch(context: CommandContext, node?: TreeNode): Promise<void> {
  const title = "Check Before Launch";
  const picked = await pickStage(context, node, ({ stage }) => stage.definition.command !== undefined, title);
  if (!picked) return;
  const name = memberTitle(picked.stage, picked.ref.member);
  const rows = await vscode.window.withProgress(
    { location: { viewId: "mlSession.stages" }, title: `Looking at what ${name} would meet` },
    () => context.launcher.check(picked.session.id, picked.ref),
  );
  const chosen = await vscode.window.showQuickPick(itemsOf(rows), {
    title: `${name}: ${sumOf(rows)}`,
    placeHolder: "Nothing was started. A row with a fix applies it.",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen?.fix) await apply(context, picked, chosen.fix);
}

function sumOf(rows: readonly PreflightRow[]): string {
  const errors = rows.filter(({ level }) => level === "error").length;
  const warnings = rows.filter(({ level }) => level === "warning").length;
  if (errors + warnings === 0) return "ready to launch";
  return [errors > 0 ? amount(errors, "error") : "", warnings > 0 ? amount(warnings, "warning") : ""]
    .filter((part) => part !== "")
    .join(", ");
}

const icons = { ok: "$(pass)", warning: "$(warning)", error: "$(error)" } as const;

function itemsOf(rows: readonly PreflightRow[]): readonly RowItem[] {
  const groups = [...new Set(rows.map(({ group }) => group))];
  return groups.flatMap((group): RowItem[] => [
    { label: group, kind: vscode.QuickPickItemKind.Separator },
    ...rows.filter((row) => row.group === group).map(itemOf),
  ]);
}

function itemOf({ level, name, says, fix }: PreflightRow): RowItem {
  const item = { label: `${icons[level]} ${name}`, description: says };
  return fix ? { ...item, detail: `$(lightbulb) ${fixWords(fix)}`, fix } : item;
}

function fixWords(fix: PreflightFix): string {
  switch (fix.kind) {
    case "cure":
      return `Use ${fix.cure.replacement} in the session file: ${fix.cure.detail}`;
    case "find":
      return `Search the host for ${fix.program}`;
    case "secret":
      return `Set the secret ${fix.name}`;
    case "file":
      return "Open the session file at this stage";
  }
}

async function apply(context: CommandContext, picked: PickedStage, fix: PreflightFix): Promise<void> {
  const { session, stage, ref } = picked;
  switch (fix.kind) {
    case "cure": {
      const { program, replacement } = fix.cure;
      if (await context.files.mend(session.id, ref.stage, fix.cure)) return;
      throw new ExpectedError(
        `The command of ${ref.stage} could not be changed by itself: put ${replacement} in place of ${program} in the session file.`,
      );
    }
    case "find":
      return searchProgram(context, picked, fix.program, ofMember(stage.definition, ref.member).command ?? "");
    case "secret": {
      const host = session.hosts.get(stage.definition.host)?.definition;
      if (host) await context.secrets.ask(host, fix.name);
      return;
    }
    case "file":
      await context.files.show(session.id, (stage.definition.commandRange ?? stage.definition.range).from);
  }
}
