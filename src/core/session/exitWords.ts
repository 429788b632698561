import type { ExitStatus, OomKills, RunEnd } from "../ports";
import { count } from "./words";

/**
 * What shells, the kernel and common tools mean by an exit status, where the log itself gave no cause.
 * 126–128+n: POSIX shell, "Exit Status for Commands"; 124: coreutils `timeout`; 143: 128 + SIGTERM.
 */
const codes: Readonly<Record<number, Meaning>> = {
  1: { cause: "it ended with exit code 1", remedy: "Look at the last lines of its log for the reason." },
  2: {
    cause: "it ended with exit code 2, which most tools use for wrong arguments",
    remedy: "Check the command's arguments in the session file.",
  },
  124: { cause: "its time limit (timeout) ran out", remedy: "Raise the limit, or find out why it takes so long." },
  126: {
    cause: "its program may not be executed (exit 126)",
    remedy: "Make the file executable (chmod +x), or start it through its interpreter.",
  },
  127: {
    cause: "a program it calls was not found (exit 127)",
    remedy: "Call the program by its full path, or add its folder to `path:` of the host in the session file.",
  },
  130: { cause: "it was interrupted (Ctrl-C)", remedy: "Restart it if that was not meant." },
};

const killed: Meaning = {
  cause: "it was killed (SIGKILL), most likely because the host ran out of memory",
  remedy: "Look at `dmesg` on the host; use fewer workers or a smaller batch, or ask for more memory.",
};

const signals: Readonly<Record<string, Meaning>> = {
  KILL: killed,
  SEGV: {
    cause: "it crashed (segmentation fault)",
    remedy: "A native library failed: check that torch, CUDA and extensions fit each other.",
  },
  BUS: {
    cause: "it crashed (bus error), which is often a full /dev/shm",
    remedy: "Give the container more shared memory (--shm-size or --ipc=host).",
  },
  ABRT: { cause: "it aborted itself (SIGABRT)", remedy: "The lines before the abort in its log say why." },
  TERM: { cause: "somebody asked it to end (SIGTERM)", remedy: "Restart it if that was not meant." },
  INT: { cause: "it was interrupted (SIGINT)", remedy: "Restart it if that was not meant." },
  HUP: { cause: "its terminal was closed (SIGHUP)", remedy: "Start it from here: it then outlives the login." },
  PIPE: { cause: "what read its output was gone (SIGPIPE)", remedy: "Look at the last program of the pipe." },
};

const signalNumbers: Readonly<Record<number, string>> = {
  1: "HUP",
  2: "INT",
  6: "ABRT",
  7: "BUS",
  9: "KILL",
  11: "SEGV",
  13: "PIPE",
  15: "TERM",
};

interface Meaning {
  readonly cause: string;
  readonly remedy: string;
}

/** The meaning of an end that was not a success, in plain words that go after the stage's name. */
export function exitMeaning({ exit, oomKills }: RunEnd): Meaning {
  if (exit.kind === "unknown") {
    return { cause: "it ended and nobody recorded how", remedy: "Look at the last lines of its log." };
  }
  if (exit.kind === "signal") return isKill(exit) ? killMeaning(oomKills) : ofSignal(exit.signal);
  const named = exit.code > 128 ? signalNumbers[exit.code - 128] : undefined;
  const known = codes[exit.code];
  if (known) return known;
  if (named) return ofSignal(named);
  return {
    cause: `it ended with exit code ${exit.code}`,
    remedy: "Look at the last lines of its log for the reason.",
  };
}

/** Whether it was SIGKILL, which a process can neither catch nor tell of. */
export function isKill(exit: ExitStatus): boolean {
  return exit.kind === "signal" && exit.signal.replace(/^SIG/, "") === "KILL";
}

const lessMemory = "Use fewer workers or a smaller batch, or ask for more memory.";

/** SIGKILL by what the kernel counted meanwhile; without any count, by what is most frequent. */
export function killMeaning(oomKills: OomKills | undefined): Meaning {
  const { group, host } = oomKills ?? {};
  if (group !== undefined && group > 0) {
    return {
      cause: "it was killed by the kernel (SIGKILL) since memory ran out",
      remedy: `The limit is that of its container, Slurm job or login. ${lessMemory}`,
    };
  }
  if (host !== undefined && host > 0) {
    return {
      cause: `it was killed (SIGKILL), most likely by the kernel since memory ran out: on this host ${host === 1 ? "one process was" : `${count(host)} processes were`} ended so meanwhile`,
      remedy: `Look at \`dmesg\` on the host for who it was. ${lessMemory}`,
    };
  }
  if (host === undefined) return killed;
  return {
    cause: "it was killed (SIGKILL) by somebody or something else: memory did not run out meanwhile",
    remedy: "Restart it if that was not meant; `kill -9`, a scheduler's limit or the stop of a container ends jobs so.",
  };
}

function ofSignal(name: string): Meaning {
  const bare = name.replace(/^SIG/, "");
  return (
    signals[bare] ?? {
      cause: `it was ended by SIG${bare}`,
      remedy: "Look at the last lines of its log for the reason.",
    }
  );
}
