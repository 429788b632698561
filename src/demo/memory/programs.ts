import type { Clock } from "../../core/ports";
import { downloadScore, extractionScore, inferenceScore, trainingScore } from "../night";
import type { Score } from "../score";
import { hfUsage, playedScripts, pythonUsage, stubWords, type DemoPlaces } from "../story";
import type { MemoryFiles } from "./files";

/** A program's start on the host in memory. */
export interface ProgramCall {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly files: MemoryFiles;
  readonly clock: Clock;
  readonly speed: number;
  /** Where both outputs go. */
  readonly write: (text: string) => void;
  /** Aborted when the program is killed. */
  readonly signal: AbortSignal;
}

/** Runs until its end and gives the exit code; rejects when it was killed. */
export type Program = (call: ProgramCall) => Promise<number>;

/** Folders that a launch without further ones looks into: a virtual environment's is not among them. */
export const plainPath = ["/usr/local/bin", "/usr/bin", "/bin"];

/** All programs that are installed, by absolute path. */
export function programsIn({ home }: DemoPlaces): ReadonlyMap<string, Program> {
  return new Map<string, Program>([
    ["/usr/bin/python", python],
    ["/usr/bin/nvidia-smi", (call) => say(call, "NVIDIA-SMI 580.159.04 (simulated)\n", 0)],
    [`${home}/ml-env/bin/hf`, hf],
    [`${home}/ml-env/bin/huggingface-cli`, (call) => say(call, stubWords, 1)],
  ]);
}

/** Does what the score says when it is due, counted from now. */
export async function playScore(
  score: Score,
  target: string,
  call: Omit<ProgramCall, "args" | "cwd">,
): Promise<number> {
  const start = call.clock.now();
  for (const line of score) {
    const wait = start + line.at - call.clock.now();
    if (wait > 0) await call.clock.sleep(wait, call.signal);
    call.signal.throwIfAborted();
    if (line.kind === "out") call.write(line.text);
    else if (line.kind === "append") call.files.append(`${target}/${line.path}`, line.text);
    else call.files.grow(`${target}/${line.path}`, line.bytes);
  }
  return 0;
}

function say(call: ProgramCall, words: string, code: number): Promise<number> {
  call.write(words);
  return Promise.resolve(code);
}

async function hf(call: ProgramCall): Promise<number> {
  if (call.args.includes("--help")) return say(call, hfUsage, 0);
  const target = call.args[call.args.indexOf("--local-dir") + 1];
  if (call.args[0] !== "download" || !call.args.includes("--local-dir") || target === undefined)
    return say(call, `${hfUsage}Error: the demo plays only 'hf download REPO --local-dir FOLDER'.\n`, 2);
  const folder = call.files.resolve(target, call.cwd);
  call.files.empty(`${folder}/model.safetensors`);
  await playScore(downloadScore(call.speed), folder, call);
  return say(call, `\n${folder}\n`, 0);
}

async function python(call: ProgramCall): Promise<number> {
  if (call.args.includes("--help")) return say(call, pythonUsage, 0);
  const script = call.args[0] ?? "";
  const played = Object.entries(playedScripts).find(([name]) => name === script.split("/").at(-1))?.[1];
  if (played === undefined)
    return say(call, `python: can't open file '${script}': [Errno 2] No such file or directory\n`, 2);
  const scores = { inference: inferenceScore, extraction: extractionScore, training: trainingScore };
  return playScore(scores[played](call.speed), call.cwd, call);
}
