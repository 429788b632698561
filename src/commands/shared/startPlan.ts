import * as vscode from "vscode";
import { ExpectedError } from "../../core/errors";
import type { PipelinePlan, Session } from "../../core/session/model";
import { joined, memberKey, toLaunch, type OpenMember } from "../../core/session/pipelinePlan";
import { planDetail } from "../../core/session/pipelineWords";
import { restartPlan, type RestartChoice } from "../../core/session/restartPlan";
import { amount } from "../../core/session/words";
import { showCheck } from "./checkList";
import type { CommandContext } from "./context";

/** Of so many members of a stage it is looked what is there already; the others are looked at when they start. */
const mostLooks = 32;

/** Asks once for everything of the plan, then starts it, beside what is under way. Nothing happens on a no. */
export async function startPlan(
  context: CommandContext,
  session: Session,
  plan: PipelinePlan,
  title: string,
): Promise<void> {
  const open = toLaunch(session, plan);
  if (open.length === 0) throw new ExpectedError(`${title}: all of it is finished or at work already.`);
  const ways = await askWays(context, session, open, title);
  if (!ways) return;
  const whole: PipelinePlan = { ...plan, ways: ways.ways, leftOut: [...plan.leftOut, ...ways.leftOut] };
  const refs = toLaunch(session, whole).map(({ ref }) => ref);
  if (refs.length === 0) return;
  const stages = new Set(refs.map(({ stage }) => stage)).size;
  const what = stages === 1 ? amount(refs.length, "member") : amount(stages, "stage");
  const text = {
    title: `${title}: launch ${what} of ${session.definition.name}?`,
    detail: `${planDetail(session, whole)}\n\nCheck First tries the set-up and looks at what they would meet; it starts none of them.`,
    check: async (seen: boolean): Promise<boolean> => {
      const asked = { session, refs, name: session.definition.name, setup: seen ? "all" : "approved" } as const;
      return (await showCheck(context, asked)) !== "fixed";
    },
  };
  if (!(await context.launcher.approve(session.id, refs, text))) return;
  const current = context.sessions.sessions.get(session.id);
  const old = current?.pipeline?.standing === "through" ? undefined : current?.pipeline?.plan;
  context.pipelines.start(session.id, old ? joined(session.definition, old, whole) : whole);
}

interface Ways {
  readonly ways: PipelinePlan["ways"];
  readonly leftOut: readonly string[];
}

interface WayItem extends vscode.QuickPickItem {
  readonly choice?: RestartChoice;
}

/**
 * What to do where outputs are there already: gone on with where the stage can, else asked for, a stage at a time.
 * Undefined: the person gave it up.
 */
async function askWays(
  context: CommandContext,
  session: Session,
  open: readonly OpenMember[],
  title: string,
): Promise<Ways | undefined> {
  const ways: Record<string, PipelinePlan["ways"][string]> = {};
  const leftOut: string[] = [];
  for (const stage of new Set(open.map(({ ref }) => ref.stage))) {
    const members = open.filter(({ ref }) => ref.stage === stage);
    const found = await lookedAt(context, session, members);
    const [first] = found;
    if (!first) continue;
    const resume = first.choices.find(({ way }) => way === "resume");
    const picked = resume ?? (await pickWay(`${title}: ${stage}`, found));
    if (picked === undefined) return undefined;
    if (picked === "leave out") leftOut.push(...members.map(({ ref }) => memberKey(ref)));
    else if (picked.way !== "again") ways[stage] = picked.way;
  }
  return { ways, leftOut };
}

interface Found {
  readonly rows: readonly string[];
  readonly choices: readonly RestartChoice[];
}

async function pickWay(title: string, found: readonly Found[]): Promise<RestartChoice | "leave out" | undefined> {
  const [first] = found;
  const leave = "Leave Out";
  const items: WayItem[] = [
    ...(first?.choices ?? []).map((choice) => ({ label: choice.label, detail: choice.detail, choice })),
    { label: leave, detail: "It is not launched; what needs it waits for it." },
  ];
  const more = found.length > 1 ? ` The same in ${found.length - 1} more.` : "";
  const placeHolder = `${first?.rows.join(" ") ?? ""}${more}`;
  const item = await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true });
  return item?.choice ?? (item ? "leave out" : undefined);
}

/** Members where something is there already that a start could write over. */
async function lookedAt(
  context: CommandContext,
  session: Session,
  members: readonly OpenMember[],
): Promise<readonly Found[]> {
  const now = context.clock.now();
  const looks = members.slice(0, mostLooks).map(async ({ ref }): Promise<readonly Found[]> => {
    const plan = restartPlan(session, ref, await context.launcher.existing(session.id, ref), now);
    return plan.choices.every(({ way }) => way === "again") ? [] : [plan];
  });
  const options = { location: { viewId: "mlSession.stages" }, title: "Looking at what is there" };
  return (await vscode.window.withProgress(options, () => Promise.all(looks))).flat();
}
