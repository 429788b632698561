import type { ProgramPlaces, ShellPath } from "../programSearch";
import { commandWords } from "./commandWords";
import type { Cure } from "./cure";

/** A change of the session file by which a program is found. */
export type ProgramOffer =
  | { readonly kind: "command"; readonly cure: Cure }
  | { readonly kind: "path"; readonly folder: string }
  | { readonly kind: "setup"; readonly line: string };

/** One place where the program is, with what can be done to use it from there. */
export interface ProgramAdvice {
  readonly path: string;
  /** Why it counts, or why it does not. */
  readonly says: string;
  readonly offers: readonly ProgramOffer[];
}

const shellNames = {
  ssh: "command over SSH",
  login: "login shell",
  interactive: "interactive shell",
  systemd: "systemd user units",
} as const;

/** What each kind of shell makes of the program, as name and words. */
export function shellWords(
  places: ProgramPlaces,
  program: string,
): readonly { readonly name: string; readonly says: string; readonly finds: boolean }[] {
  return places.shells.map((shell) => {
    const says = shell.late ? "its start-up takes longer than 5 s" : (shell.found ?? `does not find ${program}`);
    return { name: shellNames[shell.kind], says, finds: !shell.late && shell.found !== undefined };
  });
}

/**
 * The places where the program is, those that work and are not on the PATH of a launch first: what they are good for, which
 * shells look there, which start-up file says so, and the edits that make a launch look there too.
 */
export function programAdvice(places: ProgramPlaces, program: string, command: string): readonly ProgramAdvice[] {
  const order = (works: boolean, onPath: boolean): number => (works ? (onPath ? 1 : 0) : 2);
  return [...places.tools]
    .sort((a, b) => order(a.works, a.onPath) - order(b.works, b.onPath))
    .map((tool) => {
      const folder = tool.path.slice(0, tool.path.lastIndexOf("/")) || "/";
      const parts = [
        tool.works ? "works" : `does not work: ${tool.says}`,
        tool.onPath ? "on the PATH of a launch" : "not on the PATH of a launch",
        ...seenBy(places.shells, folder),
        ...places.startup
          .filter((one) => one.folder === folder)
          .map(({ file, line }) => `${file}:${String(line)} names it`),
      ];
      const offers = tool.works ? offersFor({ places, program, command, folder, path: tool.path }, tool.onPath) : [];
      return { path: tool.path, says: parts.join("; "), offers };
    });
}

function seenBy(shells: readonly ShellPath[], folder: string): readonly string[] {
  const names = shells.filter((shell) => shell.kind !== "ssh" && !shell.late && shell.path.includes(folder));
  return names.length === 0 ? [] : [`seen by the ${names.map(({ kind }) => shellNames[kind]).join(" and the ")}`];
}

interface Place {
  readonly places: ProgramPlaces;
  readonly program: string;
  readonly command: string;
  readonly folder: string;
  readonly path: string;
}

function offersFor({ places, program, command, folder, path }: Place, onPath: boolean): readonly ProgramOffer[] {
  const offers: ProgramOffer[] = [];
  if (path !== program && commandWords(command).some(({ value }) => value === program)) {
    const cure = { title: `Use ${path}`, detail: `${program} becomes ${path}`, program, replacement: path };
    offers.push({ kind: "command", cure });
  }
  // Another name of the program would still not be found by the folder alone.
  if (onPath || path !== `${folder}/${program}`) return offers;
  offers.push({ kind: "path", folder });
  if (places.activated.includes(folder)) offers.push({ kind: "setup", line: `. ${shellWord(`${folder}/activate`)}` });
  return offers;
}

function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
