import { accessSync, constants } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { downloadScore, extractionScore, inferenceScore, trainingScore } from "../night";
import hf from "../played/hf.sh";
import huggingfaceCli from "../played/huggingfaceCli.sh";
import nvidiaSmi from "../played/nvidiaSmi.sh";
import play from "../played/play.sh";
import python from "../played/python.sh";
import { scoreText } from "../score";
import { hfUsage, playedScripts, stubWords, type DemoPlaces } from "../story";

const systemFolders = ["/usr/local/bin", "/usr/bin", "/bin"];
/** What the host scripts and the played programs cannot do without. */
const needed = ["sh", "setsid", "sleep", "head", "mkdir", "cat", "date", "tr"];
/** What must not be there: the story needs them not to be found, and a real one would download. */
const unwelcome = ["hf", "huggingface-cli"];

/** Why the demo host cannot be a real one on this machine, or undefined where it can. */
export function whyNoRealHost(platform: NodeJS.Platform, folder: string): string | undefined {
  if (platform !== "linux") return `the platform is ${platform}`;
  // The session file's commands name places in it without quotes.
  if (!/^[\w./-]+$/.test(folder)) return `the folder's path has characters that a shell would read: ${folder}`;
  if (!readable("/proc/uptime")) return "there is no /proc";
  const missing = needed.filter((name) => !installed(name));
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  const found = unwelcome.filter(installed);
  return found.length > 0
    ? `this machine has a real ${found.join(" and ")} that the story needs not to be found`
    : undefined;
}

function installed(name: string): boolean {
  return systemFolders.some((folder) => readable(join(folder, name)));
}

function readable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The environment of everything that runs on the demo host: nothing of the editor's own gets in. */
export function hostEnvironment({ home }: DemoPlaces): Record<string, string> {
  const path = [`${home}/bin`, ...systemFolders].join(":");
  return { HOME: home, PATH: path, USER: "demo", LOGNAME: "demo", SHELL: "/bin/sh", LANG: "C.UTF-8" };
}

/** Writes the home folder of the demo host: its programs, what they play, and the evening's folders. */
export async function writeDemoHome({ home, data }: DemoPlaces, speed: number): Promise<void> {
  const own = join(home, ".demo");
  const programs = {
    [`${home}/bin/python`]: python,
    [`${home}/bin/nvidia-smi`]: nvidiaSmi,
    [`${home}/ml-env/bin/python`]: python,
    [`${home}/ml-env/bin/hf`]: hf,
    [`${home}/ml-env/bin/huggingface-cli`]: huggingfaceCli,
    [`${own}/play.sh`]: play,
  };
  const files = {
    [`${home}/ml-env/pyvenv.cfg`]: "home = /usr/bin\nversion = 3.12.0\n",
    [`${home}/ml-env/bin/activate`]: `VIRTUAL_ENV=${home}/ml-env\nPATH=$VIRTUAL_ENV/bin:$PATH\nexport VIRTUAL_ENV PATH\n`,
    [`${own}/settings`]: `owner=${process.pid}\n`,
    [`${own}/alive`]: "",
    [`${own}/hf-usage.txt`]: hfUsage,
    [`${own}/stub-words.txt`]: stubWords,
    [`${own}/inference.score`]: scoreText(inferenceScore(speed)),
    [`${own}/extraction.score`]: scoreText(extractionScore(speed)),
    [`${own}/training.score`]: scoreText(trainingScore(speed)),
    [`${own}/download.score`]: scoreText(downloadScore(speed)),
    ...Object.fromEntries(
      Object.keys(playedScripts).map((name) => [`${data}/${name}`, "# Played by the demo host's own python.\n"]),
    ),
  };
  await mkdir(`${data}/synth_25k`, { recursive: true });
  for (const [path, text] of Object.entries({ ...programs, ...files })) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  await Promise.all(Object.keys(programs).map((path) => chmod(path, 0o755)));
}
