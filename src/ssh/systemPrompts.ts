import { writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Asker } from "./prompts";

/** What `ssh` asks: its text, and whether it wants no answer (`none`: touch your key) or a mere yes (`confirm`). */
export interface SshQuestion {
  readonly text: string;
  readonly hint: string;
}

/** A program that `ssh` runs instead of asking at a terminal (ssh(1), SSH_ASKPASS). */
export interface Askpass {
  /** What `ssh` needs in its environment to use it. */
  readonly env: Readonly<Record<string, string>>;
  dispose(): void;
}

const maxQuestion = 16 * 1024;

/**
 * Sends each question of `ssh`, and of the ssh of a jump host, to us. The folder must be the user's alone: whoever can
 * reach the socket in it may ask.
 * @param answer `undefined`: none; `ssh` hears of a failure
 */
export async function startAskpass(
  folder: string,
  answer: (question: SshQuestion) => Promise<string | undefined>,
): Promise<Askpass> {
  const socket = join(folder, "ask");
  const program = join(folder, "askpass");
  await writeFile(join(folder, "askpass.js"), client, { mode: 0o600 });
  await writeFile(program, starter, { mode: 0o700 });
  const open = new Set<Socket>();
  const server = createServer((link) => {
    open.add(link);
    link.on("close", () => open.delete(link));
    link.on("error", () => undefined);
    questionOf(link)
      .then(answer)
      .then(
        (text) => link.end(text === undefined ? "" : `=${text}`),
        () => link.end(),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  return {
    env: {
      SSH_ASKPASS: program,
      SSH_ASKPASS_REQUIRE: "force",
      // Before 8.4, ssh asks a program only where there is a display.
      DISPLAY: process.env["DISPLAY"] ?? ":0",
      ML_SESSION_NODE: process.execPath,
    },
    dispose: () => {
      server.close();
      for (const link of open) link.destroy();
    },
  };
}

/** The editor's own program, told to be Node: a machine need not have one. */
const starter = `#!/bin/sh
ELECTRON_RUN_AS_NODE=1 exec "$ML_SESSION_NODE" "\${0%/*}/askpass.js" "\${0%/*}/ask" "$1"
`;

const client = `
const socket = require("node:net").connect(process.argv[2]);
let answer = "";
socket.setEncoding("utf8");
socket.on("data", (text) => { answer += text; });
socket.on("error", () => process.exit(1));
socket.on("end", () => {
  if (!answer.startsWith("=")) process.exit(1);
  process.stdout.write(answer.slice(1) + "\\n", () => process.exit(0));
});
socket.write(JSON.stringify({ text: process.argv[3] ?? "", hint: process.env.SSH_ASKPASS_PROMPT ?? "" }) + "\\n");
`;

function questionOf(link: Socket): Promise<SshQuestion> {
  return new Promise((resolve, reject) => {
    let said = "";
    link.setEncoding("utf8");
    link.on("data", (chunk: string) => {
      said += chunk;
      const end = said.indexOf("\n");
      if (end < 0 && said.length <= maxQuestion) return;
      try {
        const question: unknown = JSON.parse(said.slice(0, end));
        if (isQuestion(question)) resolve(question);
        else reject(new Error("no question"));
      } catch (error) {
        reject(error instanceof Error ? error : new Error("no question"));
      }
    });
    link.on("close", () => {
      reject(new Error("no question"));
    });
  });
}

function isQuestion(value: unknown): value is SshQuestion {
  return (
    typeof value === "object" &&
    value !== null &&
    "text" in value &&
    "hint" in value &&
    typeof value.text === "string" &&
    typeof value.hint === "string"
  );
}

/** Whether the question is of the key of a host that is not known yet. */
export function isKeyQuestion({ text }: SshQuestion): boolean {
  return text.startsWith("The authenticity of host ");
}

/** Whether the answer goes to the host, which counts wrong ones; a passphrase or PIN stays on this machine. */
export function goesToHost(question: SshQuestion): boolean {
  return !isKeyQuestion(question) && !/^Enter (?:passphrase|PIN) for /.test(question.text) && question.hint === "";
}

/** Puts a question of `ssh` to the person as the same one over ssh2 would be. `undefined`: cancelled. */
export async function putQuestion(question: SshQuestion, asker: Asker, label: string): Promise<string | undefined> {
  const { text, hint } = question;
  if (isKeyQuestion(question)) {
    const host = /^The authenticity of host '([^'\n]*?)(?: \([^)\n]*\))?'/.exec(text)?.[1];
    const [, keyType, fingerprint] = /^(\S+) key fingerprint is:? *(\S+?)\.?$/m.exec(text) ?? [];
    if (host !== undefined && keyType !== undefined && fingerprint !== undefined) {
      return (await asker.confirmHostKey({ host, keyType, fingerprint })) ? "yes" : "no";
    }
  }
  const prompt = text
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 500);
  const yesNo = hint === "confirm" || /\(yes\/no(?:\/\[fingerprint\])?\)\??$|^Please type 'yes'/.test(prompt);
  return asker.ask({ title: `${label}: ssh asks`, prompt, secret: !yesNo });
}
