import * as vscode from "vscode";
import type { LaunchApproval, LaunchPlanText, LaunchQuestion } from "../../core/launchApproval";
import { approvalText, everythingOf } from "../../core/approvalText";
import { amount, list } from "../../core/session/words";
import { sha256 } from "./sha256";

const memoryKey = "mlSession.approvedLaunches";
/** A pipeline of several matrices must not push out its own approvals. */
const mostKept = 2000;
/** A dialog has no scroll bar everywhere: what is longer is shown in an editor. */
const mostShown = 2500;

/**
 * Asks before the first launch of anything a workspace file decided, and shows all of it: where, in what folder, with
 * what set-up and what command. The answer is remembered on this machine, by a hash of exactly that content.
 */
export function createApproval(memory: vscode.Memento, isOwn: (session: string) => boolean): LaunchApproval {
  const approved = (): readonly string[] => memory.get<readonly string[]>(memoryKey, []);
  // The demo's commands come with the product and run on the demo's own host.
  const isApproved = async (question: LaunchQuestion): Promise<boolean> =>
    isOwn(question.session) || approved().includes(await sha256(everythingOf(question)));
  return {
    isApproved,
    approve: async (questions, plan) => {
      const open: LaunchQuestion[] = [];
      for (const question of questions) if (!(await isApproved(question))) open.push(question);
      if ((open.length > 0 || plan) && !(await ask(open, plan))) return false;
      const hashes = await Promise.all(open.map((question) => sha256(everythingOf(question))));
      if (hashes.length > 0) await memory.update(memoryKey, [...approved(), ...hashes].slice(-mostKept));
      return true;
    },
  };
}

const yes = "Launch";
const checkFirst = "Check First";

/** Asks until it is answered: a check that was asked for comes back to the question, unless it has changed something. */
async function ask(questions: readonly LaunchQuestion[], plan: LaunchPlanText | undefined): Promise<boolean> {
  for (;;) {
    const { answer, seen } = await askOnce(questions, plan);
    if (answer !== checkFirst || !plan?.check) return answer === yes;
    if (!(await plan.check(seen))) return false;
  }
}

interface Answer {
  readonly answer: string | undefined;
  /** Whether all that would run was shown. */
  readonly seen: boolean;
}

/** One dialog: what will be done, and below it all that was not approved before. */
async function askOnce(questions: readonly LaunchQuestion[], plan: LaunchPlanText | undefined): Promise<Answer> {
  const title = plan?.title ?? titleOf(questions);
  const text = approvalText(questions, plan !== undefined);
  const whole = text.length <= mostShown;
  const asked = whole
    ? `This workspace's session file asks to run:\n\n${text}`
    : `This workspace's session file asks to run ${amount(questions.length, "command")}, which is more than this window can show. Show All has it.`;
  const detail = [plan?.detail, questions.length > 0 ? asked : undefined].filter((part) => part !== undefined);
  const check = plan?.check ? [checkFirst] : [];
  const question = { title, detail: detail.join("\n\n"), check };
  if (questions.length > 1 || !whole) return askWithAll({ ...question, text, whole });
  const options = { modal: true, detail: question.detail };
  return { answer: await vscode.window.showWarningMessage(title, options, yes, ...check), seen: true };
}

function titleOf(questions: readonly LaunchQuestion[]): string {
  const [first] = questions;
  const hosts = list([...new Set(questions.map(({ host }) => host.name))]);
  const what = first && questions.length === 1 ? first.name : amount(questions.length, "command");
  return `Launch ${what} on ${hosts}?`;
}

interface LongQuestion {
  readonly title: string;
  readonly detail: string;
  /** The button for a check, if there is one. */
  readonly check: readonly string[];
  /** All that would run. */
  readonly text: string;
  /** Whether `detail` holds it. */
  readonly whole: boolean;
}

async function askWithAll({ title, detail, check, text, whole }: LongQuestion): Promise<Answer> {
  const show = "Show All";
  const buttons = whole ? [yes, ...check, show] : [...check, show];
  const answer = await vscode.window.showWarningMessage(title, { modal: true, detail }, ...buttons);
  if (answer !== show) return { answer, seen: whole };
  const document = await vscode.workspace.openTextDocument({ language: "plaintext", content: `${text}\n` });
  await vscode.window.showTextDocument(document, { preview: true });
  const words = `${title} The editor shows all that would run.`;
  // Not modal: the text must be scrolled through before it is answered.
  return { answer: await vscode.window.showWarningMessage(words, yes, ...check, "Cancel"), seen: true };
}
