import type { ToolCandidate } from "../core/ports";
import { ExpectedError } from "../core/errors";
import readScript from "../host/readPart.sh";
import setupScript from "../host/setup.sh";
import shellPathsScript from "../host/shellPaths.sh";
import toolsScript from "../host/tools.sh";
import type { HostSession } from "./hostSession";
import { pathPrefix } from "./jobEnvironment";
import { compact, quoted } from "./scriptChannel";

/** See `HostOps.read`. */
export async function readPart(
  session: HostSession,
  path: string,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const variables = { ...session.variables, path, offset: whole(offset), length: whole(length) };
  const answer = await session.control.read([readScript], variables);
  const cut = answer.indexOf("\n");
  const head = answer.subarray(0, cut).toString("utf8");
  if (head.startsWith("@ refused ")) throw new ExpectedError(`${path}: ${head.slice("@ refused ".length)}`);
  return answer.subarray(cut + 1);
}

function whole(value: number): number {
  return Math.max(0, Math.floor(value));
}

/** See `HostOps.findTools`. */
export async function findTools(
  session: HostSession,
  names: readonly string[],
  cwd: string | undefined,
): Promise<readonly ToolCandidate[]> {
  const { definition } = session;
  const wrong = names.find((name) => name === "" || /[/\s]/.test(name));
  if (wrong !== undefined) throw new ExpectedError(`"${wrong}" is not the name of a program.`);
  const variables = {
    ...session.variables,
    cwd: cwd ?? "",
    shell: definition.shell,
    path_prefix: pathPrefix(definition, session.identity.home),
    environment: Object.entries(definition.env)
      .filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      .map(([name, value]) => `export ${name}=${quoted(value)}`)
      .join("\n"),
    name_count: names.length,
    ...Object.fromEntries(names.map((name, index) => [`name_${index}`, name])),
    setup_text: compact(setupScript),
    setup_count: definition.setup.length,
    // As job.sh does before it runs the line.
    ...Object.fromEntries(
      definition.setup.map((line, index) => [`setup_${index}`, `ml_session_prepare ${quoted(line)} "$0"\n${line}`]),
    ),
  };
  return toolsOf(await session.control.ask([shellPathsScript, toolsScript], variables));
}

function toolsOf(answer: readonly string[]): ToolCandidate[] {
  const tools: { name: string; path: string; onPath: boolean; code: number; words: string[] }[] = [];
  for (const line of answer) {
    const [, onPath, code, name, path] = /^@ tool ([01]) (\d+) (\S+) (.*)$/.exec(line) ?? [];
    if (name !== undefined && path !== undefined) {
      tools.push({ name, path, onPath: onPath === "1", code: Number(code), words: [] });
    } else if (line.startsWith(": ")) {
      tools.at(-1)?.words.push(line.slice(2));
    }
  }
  return tools.map(({ name, path, onPath, code, words }) => {
    const text = plain(words.join(" "));
    // A stub may end with 0 after saying that it does nothing any more (huggingface-cli since huggingface_hub 1.0).
    const works = code === 0 && !/no longer works/i.test(text);
    const says = code === 124 ? "It gave no answer within 10 s." : text === "" ? `It ended with code ${code}.` : text;
    return { name, path, onPath, works, says: works ? "" : says };
  });
}

/** Words of a program on one line, without colours. */
function plain(text: string): string {
  // eslint's no-control-regex wants no escape written in a pattern, so the pattern is built.
  const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");
  return text.replace(escapes, "").replace(/\s+/g, " ").trim().slice(0, 500);
}
