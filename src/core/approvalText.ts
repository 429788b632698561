import type { LaunchQuestion } from "./launchApproval";

/*
 * What the one dialog before a launch shows of it. An answer is remembered by `everythingOf`, which must stay as it is:
 * with any other text every launch would be asked for anew.
 */

/** All that a launch is made of, a line for each part that says something. An answer is remembered by its hash. */
export function everythingOf(question: LaunchQuestion): string {
  return partsOf(question).map(lineOf).join("\n");
}

/**
 * The same as a person reads it, without what is said of every host that nobody set up otherwise. Of several questions
 * each is under its name, and what they all have in common is said once.
 * @param named whether the name is said of a single one as well
 */
export function approvalText(questions: readonly LaunchQuestion[], named: boolean): string {
  const parts = questions.map((question) => ({ name: question.name, lines: shownLines(question) }));
  const [first] = parts;
  if (first && parts.length === 1) return named ? block(first.name, first.lines) : first.lines.join("\n");
  const common = (first?.lines ?? []).filter((line) => parts.every(({ lines }) => lines.includes(line)));
  const own = parts.map(({ name, lines }) =>
    block(
      name,
      lines.filter((line) => !common.includes(line)),
    ),
  );
  return [...(common.length > 0 ? [block("For all of them", common)] : []), ...own].join("\n\n");
}

/** A title, and below it what belongs to it, each of its lines further in. */
function block(title: string, lines: readonly string[]): string {
  return [title, ...lines].join("\n").replaceAll("\n", "\n  ");
}

/** Names and values; a value of several lines stands below its name, so that none of them looks like another part. */
function shownLines(question: LaunchQuestion): readonly string[] {
  return partsOf(question)
    .filter(({ name, value }) => name !== "shell" || value !== "auto")
    .map((part) => (part.value.includes("\n") ? block(`${part.name}:`, part.value.split("\n")) : lineOf(part)));
}

interface Part {
  readonly name: string;
  readonly value: string;
}

function lineOf({ name, value }: Part): string {
  return `${name}: ${value}`;
}

function partsOf({ host, request, resumeCommand }: LaunchQuestion): readonly Part[] {
  const { gpus } = request;
  const parts = [
    { name: "host", value: whereOf(host.address) },
    { name: "folder", value: request.cwd ?? "~" },
    { name: "log", value: request.log ?? "in the state folder" },
    { name: "path", value: host.path.join(":") },
    { name: "setup", value: host.setup.join("\n") },
    { name: "environment", value: assignments({ ...host.env, ...request.env }) },
    { name: "environment file", value: host.envFile ?? "" },
    { name: "secrets", value: host.secrets.join(" ") },
    { name: "GPUs", value: gpus === undefined ? "" : gpus === "all" ? "all" : gpus.join(", ") },
    { name: "shell", value: host.shell },
    { name: "state folder", value: host.stateDir },
    { name: "command", value: request.command },
    { name: "command to resume", value: resumeCommand ?? "" },
  ];
  return parts.filter(({ value }) => value !== "");
}

function whereOf(address: LaunchQuestion["host"]["address"]): string {
  if (address.kind === "local") return "this machine";
  if (address.kind === "alias") return `ssh ${address.alias}`;
  const user = address.user === undefined ? "" : `${address.user}@`;
  const port = address.port === undefined ? "" : `:${String(address.port)}`;
  return `ssh ${user}${address.host}${port}`;
}

function assignments(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}
