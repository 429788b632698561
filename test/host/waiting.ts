// Waiting, looking and clicking for the suites in the extension host: through the editor's own commands and documents,
// as a row of a view or a button does it.
import { type Hover, MarkdownString, type Position, Uri, commands, extensions, window, workspace } from "vscode";
import { newestLines, stageLines, type StageLine } from "../../scripts/demoReport";

/** Asks until there is an answer; the editor tells of most things by no event. Throws what was waited for. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  milliseconds = 180_000,
): Promise<T> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`Waited ${milliseconds / 1000} s in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The extension under test, running. */
export async function activated(): Promise<void> {
  const extension = extensions.getExtension("ml-session-monitor.ml-session-monitor");
  if (!extension) throw new Error("The extension is not there.");
  await extension.activate();
}

/** A file of the folder that is open. */
export function inFolder(name: string): Uri {
  const [folder] = workspace.workspaceFolders ?? [];
  if (!folder) throw new Error("No folder is open.");
  return Uri.joinPath(folder.uri, name);
}

/** What the product has seen of a stage of a session, oldest first. */
export function sightings(session: string, stage: string): readonly StageLine[] {
  return stageLines(reportFile(), stage).filter((line) => line.session === session);
}

/** Names of the stages of a session that were ever seen. */
export function stagesSeen(session: string): readonly string[] {
  return newestLines(reportFile()).flatMap((line) =>
    line.type === "stage" && line.session === session ? [line.stage] : [],
  );
}

function reportFile(): string {
  return process.env["ML_SESSION_DEMO_REPORT"] ?? "";
}

/** Clicks on a stage's row: its log, if the session and the stage are in the picture. */
export async function logOf(session: string, stage: string): Promise<Uri | undefined> {
  await commands.executeCommand("workbench.action.closeAllEditors");
  await commands.executeCommand("mlSession.openLog", { kind: "stage", session, stage });
  const uri = window.activeTextEditor?.document.uri;
  return uri?.scheme === "ml-session-log" && uri.query.includes(`stage=${stage}`) ? uri : undefined;
}

/** Writes a file as another program would. */
export async function write(uri: Uri, text: string): Promise<void> {
  await workspace.fs.writeFile(uri, new TextEncoder().encode(text));
}

export async function read(uri: Uri): Promise<string> {
  return new TextDecoder().decode(await workspace.fs.readFile(uri));
}

/** What hovering over a place shows. */
export async function hoversAt(uri: Uri, position: Position): Promise<readonly MarkdownString[]> {
  const hovers = await commands.executeCommand<Hover[]>("vscode.executeHoverProvider", uri, position);
  return hovers.flatMap(({ contents }) => contents).filter((part) => part instanceof MarkdownString);
}
