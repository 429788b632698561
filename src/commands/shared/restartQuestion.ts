import * as vscode from "vscode";
import type { RestartChosen } from "../../core/launcher";
import { declaredDifference } from "../../core/session/declaredEnvironment";
import { ofMember } from "../../core/session/definition";
import type { MemberRef } from "../../core/session/events";
import { memberTitle } from "../../core/session/memberTitle";
import type { Session } from "../../core/session/model";
import { restartPlan, type RestartChoice, type RestartPlan } from "../../core/session/restartPlan";
import type { CommandContext } from "./context";
import type { PickedStage } from "./pick";
import { sha256 } from "./sha256";

/**
 * Looks on the host at what a start of the member would meet, shows it with what can be done, and returns what the person
 * chose. Asks nothing where there is nothing to lose. Undefined: they chose not to.
 */
export async function askHowToStart(
  context: CommandContext,
  { session, stage, ref }: PickedStage,
  title: string,
): Promise<RestartChosen | undefined> {
  const name = memberTitle(stage, ref.member);
  const work = await vscode.window.withProgress(
    { location: { viewId: "mlSession.stages" }, title: `Looking at what is there of ${name}` },
    () => context.launcher.existing(session.id, ref),
  );
  // What is known now, not when the row was clicked.
  const current = context.sessions.sessions.get(session.id) ?? session;
  const seen = restartPlan(current, ref, work, context.clock.now());
  const declared = await declaredRow(current, ref);
  const plan = declared === undefined ? seen : { ...seen, rows: [...seen.rows, declared] };
  const [first] = plan.choices;
  const choice = plan.asks ? await ask(plan, `${title}: ${name}`) : first;
  return choice && { way: choice.way, orphanRuns: plan.orphanRuns, resume: plan.resume };
}

/** What the session file gives this start and the member's last run did not get. */
async function declaredRow(session: Session, ref: MemberRef): Promise<string | undefined> {
  const stage = session.stages.get(ref.stage);
  const run = stage?.members.find(({ name }) => name === ref.member)?.run;
  const host = session.hosts.get(stage?.definition.host ?? "")?.definition;
  if (!stage || !run || !host) return undefined;
  return declaredDifference(run, ofMember(stage.definition, ref.member), host, sha256);
}

interface ChoiceItem extends vscode.QuickPickItem {
  readonly choice?: RestartChoice;
}

/** One thing to say fits above a list; where something is ended, or more has to be said, it is a dialog. */
async function ask(plan: RestartPlan, title: string): Promise<RestartChoice | undefined> {
  if (plan.stopsRun || plan.rows.length > 1) return askInDialog(plan, title);
  const items: ChoiceItem[] = [
    ...plan.choices.map((choice) => ({ label: choice.label, detail: choice.detail, choice })),
    { label: "Cancel", detail: "Nothing is started or changed." },
  ];
  const placeHolder = plan.rows.join(" ");
  return (await vscode.window.showQuickPick(items, { title, placeHolder }))?.choice;
}

async function askInDialog(plan: RestartPlan, title: string): Promise<RestartChoice | undefined> {
  const choices = plan.choices.map(({ label, detail }) => `${label}: ${detail}`);
  const detail = [...plan.rows, ...choices].join("\n\n");
  const labels = plan.choices.map(({ label }) => label);
  const answer = await vscode.window.showWarningMessage(`${title}?`, { modal: true, detail }, ...labels);
  return plan.choices.find(({ label }) => label === answer);
}

/** Tells where outputs are that were set aside; nothing where none were. */
export function tellKept(kept: readonly { readonly from: string; readonly to: string }[]): void {
  const [first] = kept;
  if (!first) return;
  const more = kept.length > 1 ? ` and ${kept.length - 1} more` : "";
  // The name first: a long message is cut at its end.
  const at = first.to.lastIndexOf("/") + 1;
  const where = at > 1 ? ` in ${first.to.slice(0, at - 1)}` : "";
  void vscode.window.showInformationMessage(`Kept as ${first.to.slice(at)}${more}${where}.`);
}
