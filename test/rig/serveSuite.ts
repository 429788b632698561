// Runs an extension's suite in the served VS Code; started by test/rig/vscode-served.
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { type EditorVersion, ensureEditor, floor, newest } from "../../scripts/editor.mjs";
import { type EditorOptions, withEditor } from "./servedEditor";

const longest = 10 * 60_000;

function wantedVersion(): EditorVersion {
  const wanted = process.env["ML_SESSION_EDITOR"] ?? newest;
  if (wanted === newest || wanted === floor) return wanted;
  throw new Error(`ML_SESSION_EDITOR is ${wanted}; there are ${newest} and ${floor}.`);
}

function argument(name: string): string | undefined {
  const start = `--${name}=`;
  return process.argv.find((text) => text.startsWith(start))?.slice(start.length);
}

async function main(): Promise<number> {
  const version = wantedVersion();
  if (process.argv.includes("--version")) {
    console.log((await ensureEditor(version)).version);
    return 0;
  }
  const extensionDevelopmentPath = argument("extensionDevelopmentPath");
  const extensionTestsPath = argument("extensionTestsPath");
  if (extensionDevelopmentPath === undefined || extensionTestsPath === undefined) {
    throw new Error("--extensionDevelopmentPath= and --extensionTestsPath= are needed.");
  }
  const folder = argument("folder") ?? process.argv.slice(2).find((text) => !text.startsWith("-"));
  const end = new Deferred<number>();
  const log = `out/logs/host-${version}.log`;
  await mkdir("out/logs", { recursive: true });
  const file = createWriteStream(log);
  const onLine = (line: string): void => {
    file.write(`${line}\n`);
    // The page's console holds much besides; the suite's own lines are told by their first word.
    if (/^(ok|not ok|#) /.test(line)) process.stdout.write(`${line}\n`);
  };
  const options: EditorOptions = {
    version,
    driver: true,
    extensionDevelopmentPath,
    extensionTestsPath,
    onSuite: { log: onLine, exit: end.resolve },
    ...(folder === undefined ? {} : { folder }),
  };
  const timer = setTimeout(() => {
    end.reject(new Error(`The suite did not end within ${longest / 60_000} min.`));
  }, longest);
  try {
    const code = await withEditor(options, () => end.promise);
    if (code !== 0) console.log(`# all that the editor printed: ${log}`);
    return code;
  } finally {
    clearTimeout(timer);
    file.end();
  }
}

class Deferred<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void = () => undefined;
  reject: (error: Error) => void = () => undefined;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

process.exitCode = await main();
