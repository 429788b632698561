import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { Cure } from "../../src/core/session/cure";
import { lastSeen } from "../../src/core/session/judge";
import { programAdvice, type ProgramOffer } from "../../src/core/session/programAdvice";
import { addToHost, replaceProgram } from "../../src/core/session/sessionEdit";
import { has } from "./hostHarness";
import { definitionOf, startStoryHost, windowOn, type StoryHost } from "./storyHost";
import { storyId, type StoryWindow } from "./storyWindow";

/**
 * The motivating night: `nohup: failed to run command 'huggingface-cli'`, though a terminal on that machine finds the
 * program. Once for each way in which a terminal's PATH comes about, and for each of the causes behind the same words.
 */
interface ShellStart {
  readonly name: string;
  /** The account's shell. */
  readonly shell: string;
  /** Start-up files below the home folder, by which `folder` comes on the PATH of terminals. */
  readonly files: (folder: string) => Readonly<Record<string, string>>;
  /** Where the program is, below the home folder; by default somewhere that nobody would look by himself. */
  readonly folder?: string;
  /** What names the folder to the doctor: a start-up file, or an environment's own `activate`. */
  readonly told: RegExp;
}

const starts: readonly ShellStart[] = [
  {
    name: "bash, by ~/.bashrc behind the guard of interactive shells",
    shell: "/bin/bash",
    files: (folder) => ({ ".bashrc": `case $- in *i*) ;; *) return ;; esac\nexport PATH="${folder}:$PATH"\n` }),
    told: /seen by the interactive shell; .*\.bashrc:2 names it/,
  },
  {
    name: "bash, by ~/.bash_profile alone",
    shell: "/bin/bash",
    files: (folder) => ({ ".bash_profile": `echo Welcome\nexport PATH="${folder}:$PATH"\n` }),
    told: /seen by the login shell; .*\.bash_profile:2 names it/,
  },
  {
    name: "sh, by ~/.profile alone",
    shell: "/bin/sh",
    files: (folder) => ({ ".profile": `PATH="${folder}:$PATH"; export PATH\n` }),
    told: /seen by the login shell; .*\.profile:1 names it/,
  },
  {
    name: "zsh, by ~/.zshrc",
    shell: "/usr/bin/zsh",
    files: (folder) => ({ ".zshrc": `path=("${folder}" $path)\n` }),
    told: /seen by the interactive shell; .*\.zshrc:1 names it/,
  },
  {
    name: "zsh, by ~/.zprofile",
    shell: "/usr/bin/zsh",
    files: (folder) => ({ ".zprofile": `export PATH="${folder}:$PATH"\n` }),
    told: /seen by the login shell; .*\.zprofile:1 names it/,
  },
  {
    name: "fish, by config.fish for interactive shells",
    shell: "/usr/bin/fish",
    files: (folder) => ({
      ".config/fish/config.fish": `if status is-interactive\n  set -gx PATH "${folder}" $PATH\nend\n`,
    }),
    told: /seen by the interactive shell; .*config\.fish:2 names it/,
  },
  {
    name: "fish, by conf.d for login shells",
    shell: "/usr/bin/fish",
    files: (folder) => ({ ".config/fish/conf.d/tools.fish": `status is-login; and fish_add_path -g "${folder}"\n` }),
    told: /seen by the login shell; .*conf\.d\/tools\.fish:1 names it/,
  },
  {
    name: "tcsh, by ~/.tcshrc for shells with a prompt",
    shell: "/usr/bin/tcsh",
    files: (folder) => ({ ".tcshrc": `if (! $?prompt) exit\nset path = ( "${folder}" $path:q )\n` }),
    // A login tcsh has a prompt, whoever reads it.
    told: /seen by the login shell and the interactive shell; .*\.tcshrc:2 names it/,
  },
  {
    name: "tcsh, by ~/.login",
    shell: "/usr/bin/tcsh",
    files: (folder) => ({ ".login": `setenv PATH "${folder}:$PATH"\n` }),
    told: /seen by the login shell; .*\.login:1 names it/,
  },
  {
    name: "a virtual environment that nobody activated",
    shell: "/bin/bash",
    folder: "night/ml env/bin",
    files: () => ({ "night/ml env/bin/activate": 'PATH="$HOME/night/ml env/bin:$PATH"\n' }),
    told: /^works; not on the PATH of a launch$/,
  },
  {
    name: "a conda environment that nobody activated",
    shell: "/bin/bash",
    folder: "miniconda3/envs/ml/bin",
    files: () => ({}),
    told: /^works; not on the PATH of a launch$/,
  },
];

/** Start-up files that every shell reads. */
const always: readonly (readonly [shell: string, file: string, text: (folder: string) => string])[] = [
  ["/bin/bash", ".bashrc", (folder) => `export PATH="${folder}:$PATH"\n`],
  ["/usr/bin/zsh", ".zshenv", (folder) => `path=("${folder}" $path)\n`],
  ["/usr/bin/fish", ".config/fish/config.fish", (folder) => `fish_add_path "${folder}"\n`],
  ["/usr/bin/tcsh", ".tcshrc", (folder) => `setenv PATH "${folder}:$PATH"\n`],
];

const ref = { stage: "download", member: "0" };

// Most of a night is waiting.
describe("the motivating night", { concurrency: 3 }, () => {
  for (const start of starts) {
    const skip = has(start.shell) ? false : `${start.shell} is not on this machine`;
    test(`with ${start.name}`, { skip }, async (t) => {
      const night = await begin(t, start);
      await t.test("PATH cause: the program is where the PATH of a launch does not lead", () => pathCause(night));
      await t.test("renamed: only its successor is there", () => renamed(night));
      await t.test("renamed: the old name is there, and refuses", () => refuses(night));
    });
  }
  for (const [shell, file, text] of always) {
    const skip = has(shell) ? false : `${shell} is not on this machine`;
    test(
      `with ${shell} and ${file}, which a command over SSH reads as well: no cure is needed`,
      { skip },
      async (t) => {
        const night = await begin(t, { name: shell, shell, files: (folder) => ({ [file]: text(folder) }), told: /./ });
        night.put("huggingface-cli", works(night));
        await launched(night, night.file);
        await green(night);
      },
    );
  }
});

interface Night {
  readonly t: TestContext;
  readonly start: ShellStart;
  readonly host: StoryHost;
  readonly folder: string;
  /** The session file as it was written for that night. */
  readonly file: string;
  readonly window: StoryWindow;
  /** Makes a program in the folder. */
  readonly put: (name: string, body: string) => void;
}

async function begin(t: TestContext, start: ShellStart): Promise<Night> {
  const host = await startStoryHost(t, { loginShell: start.shell });
  const { sshd, home } = host;
  const folder = join(sshd.folder, start.folder ?? "shared tools/of everybody/here");
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(sshd.folder, "night"), { recursive: true });
  for (const [name, text] of Object.entries(start.files(folder))) write(join(sshd.folder, name), text);
  const file = `session: night
hosts:
  gpu8:
    ssh: gpu8
    state_dir: ${home}/state
stages:
  download:
    kind: download
    command: nohup huggingface-cli download x/y --local-dir ${home}/data
    cwd: ${sshd.folder}/night
    done_when: { files: ${home}/data/model.safetensors }
`;
  const window = await windowOn(t, host, file);
  const put = (name: string, body: string): void => {
    write(join(folder, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  return { t, start, host, folder, file, window, put };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A program that does what is asked of it. */
function works({ host }: Pick<Night, "host">): string {
  return `[ "$1" = --help ] && exit 0\nmkdir -p '${host.home}/data' && echo fetched >'${host.home}/data/model.safetensors'`;
}

/** What huggingface_hub 1.x leaves of the old name. */
const stub = "printf 'Warning: `huggingface-cli` is deprecated and no longer works. Use `hf` instead.\\n'; exit 1";

async function pathCause(night: Night): Promise<void> {
  const { folder } = night;
  night.put("huggingface-cli", works(night));
  await launched(night, night.file);
  await red(night, "command-not-found", /huggingface-cli works .* not on the PATH of a launch/);
  await everyCureWorks(night, [join(folder, "huggingface-cli")]);
  const offers = await advised(night, "huggingface-cli");
  const environment = night.start.folder?.includes("env/") === true;
  const written = `command ${join(folder, "huggingface-cli")}`;
  assert.deepEqual(offers.map(offerName), environment ? [written, "path", "setup"] : [written, "path"]);
  await everyOfferWorks(night, offers);
}

async function renamed(night: Night): Promise<void> {
  const { folder } = night;
  rmSync(join(folder, "huggingface-cli"), { force: true });
  night.put("hf", works(night));
  await launched(night, night.file);
  await red(night, "command-not-found", /huggingface-cli is the old name; hf works/);
  await everyCureWorks(night, [join(folder, "hf")]);
  const offers = await advised(night, "huggingface-cli");
  // The folder alone would not make the old name be found.
  assert.deepEqual(offers.map(offerName), [`command ${join(folder, "hf")}`]);
}

async function refuses(night: Night): Promise<void> {
  const { folder } = night;
  night.put("huggingface-cli", stub);
  night.put("hf", works(night));
  await launched(night, night.file);
  await red(night, "command-not-found", /only says that it no longer works; hf works/);
  assert.deepEqual(await curesOf(night), [join(folder, "hf")]);
  // Who mends PATH by hand is told the rest.
  const half = addToHost(night.file, "gpu8", "path", folder);
  assert.ok(half);
  await launched(night, half);
  await red(night, "deprecated-command", /only says that it no longer works; hf works/);
  await everyCureWorks(night, [join(folder, "hf")], half);
}

/** Saves a session file, and starts the stage by it. */
async function launched({ window, host }: Night, file: string): Promise<void> {
  rmSync(join(host.home, "data"), { recursive: true, force: true });
  window.open.open(storyId, definitionOf(file), { connect: () => Promise.reject(new Error("already connected")) });
  const before = window.member("download").run?.run;
  await window.launcher.restart(storyId, ref);
  await window.until("the new run is seen", () => (window.member("download").run?.run ?? before) !== before, patience);
}

/** For a machine that is ten times slower than usual, ms. */
const patience = 60_000;

/** The stage is red for that, and what helps is told in these words. */
async function red({ window }: Night, failure: string, helps: RegExp): Promise<void> {
  await window.until(
    `red: ${failure}, ${helps.source}`,
    () => {
      const state = lastSeen(window.member("download").state);
      return state.kind === "failed" && state.failure?.failure === failure && helps.test(state.remedy);
    },
    patience,
  );
  const { alerts } = window.session();
  assert.deepEqual(
    alerts.map(({ stage }) => stage),
    ["download"],
  );
  assert.match(alerts[0]?.remedy ?? "", helps);
}

async function green({ window }: Night): Promise<void> {
  await window.until("it is through", () => window.state("download") === "finished", patience);
}

async function curesOf({ window }: Night): Promise<readonly string[]> {
  await window.until("a cure", () => window.member("download").cures.length > 0, patience);
  return window.member("download").cures.map(({ replacement }) => replacement);
}

/** Those and no others are offered, and each is taken once: it mends the file, and the stage finishes. */
async function everyCureWorks(night: Night, paths: readonly string[], file = night.file): Promise<void> {
  assert.deepEqual(await curesOf(night), paths);
  const cures: readonly Cure[] = night.window.member("download").cures;
  for (const { program, replacement } of cures) {
    const mended = replaceProgram(file, "download", program, replacement);
    assert.ok(mended);
    await launched(night, mended);
    await green(night);
  }
}

async function advised({ window, start, folder }: Night, program: string): Promise<readonly ProgramOffer[]> {
  const places = await window.launcher.findProgram(storyId, ref, program);
  assert.equal(places.loginShell, start.shell);
  const command = `nohup ${program} download`;
  const advice = programAdvice(places, program, command).filter(({ path }) => path.startsWith(`${folder}/`));
  assert.equal(advice.length, 1);
  assert.match(advice[0]?.says ?? "", start.told);
  return advice[0]?.offers ?? [];
}

function offerName(offer: ProgramOffer): string {
  return offer.kind === "command" ? `command ${offer.cure.replacement}` : offer.kind;
}

/** Each edit that the doctor offers; the one of the command is that of the cure, which was taken before. */
async function everyOfferWorks(night: Night, offers: readonly ProgramOffer[]): Promise<void> {
  for (const offer of offers) {
    if (offer.kind === "command") continue;
    const value = offer.kind === "path" ? offer.folder : offer.line;
    const mended = addToHost(night.file, "gpu8", offer.kind, value);
    assert.ok(mended, JSON.stringify(offer));
    await launched(night, mended);
    await green(night);
  }
}
