import * as vscode from "vscode";
import type { LaunchApproval, LaunchQuestion } from "../../core/launcher";

const memoryKey = "mlSession.approvedLaunches";

/**
 * Asks before the first launch of anything a workspace file decided, and shows all of it: where, in what folder, with
 * what set-up and what command. The answer is remembered on this machine, by a hash of exactly that content.
 */
export function createApproval(memory: vscode.Memento, isOwn: (session: string) => boolean): LaunchApproval {
  return {
    approve: async (question) => {
      // The demo's commands come with the product and run on the demo's own host.
      if (isOwn(question.session)) return true;
      const text = everythingOf(question);
      const hash = await digest(text);
      const approved = memory.get<readonly string[]>(memoryKey, []);
      if (approved.includes(hash)) return true;
      const yes = "Launch";
      const answer = await vscode.window.showWarningMessage(
        `Launch ${question.stage} on ${question.host.name}?`,
        { modal: true, detail: `This workspace's session file asks to run:\n\n${text}` },
        yes,
      );
      if (answer !== yes) return false;
      await memory.update(memoryKey, [...approved, hash].slice(-500));
      return true;
    },
  };
}

function everythingOf({ host, request }: LaunchQuestion): string {
  const { address } = host;
  const where =
    address.kind === "local"
      ? "this machine"
      : address.kind === "alias"
        ? `ssh ${address.alias}`
        : `ssh ${address.user === undefined ? "" : `${address.user}@`}${address.host}${address.port === undefined ? "" : `:${String(address.port)}`}`;
  const lines = [
    ["host", where],
    ["folder", request.cwd ?? "~"],
    ["log", request.log ?? "in the state folder"],
    ["path", host.path.join(":")],
    ["setup", host.setup.join("\n")],
    ["environment", assignments({ ...host.env, ...request.env })],
    ["GPUs", request.gpus === undefined ? "" : request.gpus === "all" ? "all" : request.gpus.join(", ")],
    ["shell", host.shell],
    ["state folder", host.stateDir],
    ["command", request.command],
  ];
  return lines
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name ?? ""}: ${value ?? ""}`)
    .join("\n");
}

function assignments(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
