import * as vscode from "vscode";
import { ExpectedError } from "../../core/errors";
import type { ProgramPlaces } from "../../core/programSearch";
import { programAdvice, shellWords, type ProgramOffer } from "../../core/session/programAdvice";
import type { CommandContext } from "./context";
import type { PickedStage } from "./pick";

interface OfferItem extends vscode.QuickPickItem {
  readonly offer?: ProgramOffer;
}

/** Searches for a program that is known by name, and applies what is chosen. */
export async function searchProgram(
  context: CommandContext,
  picked: PickedStage,
  program: string,
  command: string,
): Promise<void> {
  const { host } = picked.stage.definition;
  const places = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Searching for ${program} on ${host}` },
    () => context.launcher.findProgram(picked.session.id, picked.ref, program),
  );
  const chosen = await vscode.window.showQuickPick(itemsOf(places, program, command), {
    title: `${program} on ${host}`,
    placeHolder: "What you choose changes the session file; nothing is started.",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen?.offer) await accept(context, picked, chosen.offer);
}

function itemsOf(places: ProgramPlaces, program: string, command: string): readonly OfferItem[] {
  const separator = (label: string): OfferItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const found = programAdvice(places, program, command).flatMap(({ path, says, offers }): OfferItem[] => [
    ...(offers.length === 0 ? [{ label: `$(file-binary) ${path}`, detail: says }] : []),
    ...offers.map((offer) => ({ ...offerItem(offer), detail: `${path} ${says}`, offer })),
  ]);
  const shells = shellWords(places, program).map(({ name, says, finds }) => ({
    label: `${finds ? "$(pass)" : "$(error)"} ${name}`,
    description: says,
  }));
  const nowhere: OfferItem = {
    label: "$(error) Found nowhere on the host",
    detail: "Neither on PATH nor in environments",
  };
  const last = separator(places.loginShell === "" ? "shells" : `shells (${places.loginShell})`);
  return [...(found.length > 0 ? found : [nowhere]), last, ...shells];
}

/** What it does in a label that is never cut, and with what behind it. */
function offerItem(offer: ProgramOffer): { readonly label: string; readonly description: string } {
  switch (offer.kind) {
    case "command":
      return { label: "$(lightbulb) Use in the command", description: offer.cure.replacement };
    case "path":
      return { label: "$(lightbulb) Add to the host's path", description: offer.folder };
    case "setup":
      return { label: "$(lightbulb) Add to the host's setup", description: offer.line };
  }
}

function byHand(offer: ProgramOffer): string {
  switch (offer.kind) {
    case "command":
      return `write ${offer.cure.replacement} in the command`;
    case "path":
      return `add ${offer.folder} to the host's path`;
    case "setup":
      return `add "${offer.line}" to the host's setup`;
  }
}

async function accept(
  context: CommandContext,
  { session, stage, ref }: PickedStage,
  offer: ProgramOffer,
): Promise<void> {
  const { host } = stage.definition;
  const done =
    offer.kind === "command"
      ? await context.files.mend(session.id, ref.stage, offer.cure)
      : offer.kind === "path"
        ? await context.files.addToHost(session.id, host, "path", offer.folder)
        : await context.files.addToHost(session.id, host, "setup", offer.line);
  if (!done)
    throw new ExpectedError(`The session file could not be changed by itself. Do it by hand: ${byHand(offer)}.`);
}
