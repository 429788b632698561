import { ExpectedError } from "../core/errors";
import type { ProgramPlaces, ProgramQuery, ShellPath, StartupLine } from "../core/programSearch";
import doctorScript from "../host/doctor.sh";
import shellPathsScript from "../host/shellPaths.sh";
import { findTools } from "./hostFiles";
import type { HostSession } from "./hostSession";

/** See `SearchOps.findProgram`. */
export async function findProgram(session: HostSession, query: ProgramQuery): Promise<ProgramPlaces> {
  const { names, cwd, withSetup } = query;
  const [name] = names;
  if (name === undefined) throw new ExpectedError("No program was named.");
  const definition = withSetup ? session.definition : { ...session.definition, setup: [], env: {} };
  const tools = await findTools({ ...session, definition }, names, cwd);
  const folders = [...new Set(tools.map(({ path }) => folderOf(path)))];
  const answer = await session.control.ask([shellPathsScript, doctorScript], {
    ...session.variables,
    name,
    folder_count: folders.length,
    ...Object.fromEntries(folders.map((folder, index) => [`folder_${index}`, folder])),
  });
  return { tools, ...placesOf(answer, folders) };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

const kinds = ["ssh", "login", "interactive", "systemd"] as const;

function placesOf(answer: readonly string[], folders: readonly string[]): Omit<ProgramPlaces, "tools"> {
  const told = answer.flatMap((line) => {
    const [, word, first = "", text = ""] = /^@ (\S+) (\S+) ?(.*)$/.exec(line) ?? [];
    return word === undefined ? [] : [{ word, first, text }];
  });
  const of = (word: string, kind: string): string | undefined =>
    told.find((one) => one.word === word && one.first === kind)?.text;
  const shells = kinds.flatMap((kind): readonly ShellPath[] => {
    const path = of("path", kind);
    if (path === undefined) return of("late", kind) === undefined ? [] : [{ kind, late: true }];
    const found = of("found", kind);
    return [{ kind, late: false, path: path.split(":"), ...(found === undefined ? {} : { found }) }];
  });
  const startup = told.flatMap(({ word, first, text }): readonly StartupLine[] => {
    const folder = folders[Number(first)];
    const [, line, file] = /^(\d+) (.*)$/.exec(text) ?? [];
    return word === "startup" && folder !== undefined && file !== undefined
      ? [{ folder, file, line: Number(line) }]
      : [];
  });
  const activated = told.flatMap(({ word, first }) => {
    const folder = folders[Number(first)];
    return word === "activate" && folder !== undefined ? [folder] : [];
  });
  const loginShell = told.find(({ word }) => word === "shell");
  return {
    loginShell: loginShell === undefined ? "" : [loginShell.first, loginShell.text].filter(Boolean).join(" "),
    shells,
    startup,
    activated,
  };
}
