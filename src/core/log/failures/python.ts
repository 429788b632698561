import { missingProgramCause, missingProgramRemedy, programSubject } from "./programs";
import { group, rule, type FailureRule } from "./rule";

/** Python: exceptions with a meaning of their own, and what the interpreter says without a traceback. */
export const pythonRules: readonly FailureRule[] = [
  rule({
    failure: "import-error",
    permanent: true,
    scope: "exception",
    needles: ["No module named"],
    pattern: /^(?:[\w.]*\.)?(?:ModuleNotFoundError|ImportError): No module named '?(?<module>[\w.-]{1,100})'?/,
    cause: (captured) => `The Python that ran has no package ${group(captured, "module")}.`,
    remedy: (captured) =>
      `Start the job with the environment's own Python (full path), or install ${topPackage(captured)} there: \`python -m pip install ${topPackage(captured)}\`.`,
    subject: (captured) => ({ module: group(captured, "module") }),
  }),
  rule({
    failure: "import-error",
    permanent: true,
    needles: ["No module named"],
    pattern:
      /^(?<program>[\w./-]*python[\d.]*): (?:No module named (?<module>[\w.-]{1,100}?)|Error while finding module specification for '(?<spec>[\w.-]{1,100})'.{0,300})\.?\s*$/,
    cause: (captured) =>
      `The Python that ran (${group(captured, "program")}) has no module ${captured["module"] ?? group(captured, "spec")}.`,
    remedy: "Start the job with the environment's own Python (full path), or install the package there.",
    subject: (captured) => ({ module: captured["module"] ?? group(captured, "spec") }),
  }),
  rule({
    failure: "import-error",
    permanent: true,
    scope: "both",
    needles: ["undefined symbol: "],
    pattern:
      /^(?:[\w.]*(?:ImportError|OSError): |[\w./-]{0,200}python[\d.]*: symbol lookup error: |Error: )?(?<library>[\w./+-]{1,300}): (?:error: )?undefined symbol: (?<symbol>\w{1,200})/,
    cause: (captured) =>
      `${baseName(captured)} was built for another version of PyTorch or CUDA than the one installed.`,
    remedy:
      "Install a wheel that fits torch, CUDA and the C++ ABI of this environment, or build the package here (pip install --no-build-isolation --no-binary …).",
    subject: (captured) => ({ library: baseName(captured) }),
  }),
  rule({
    failure: "import-error",
    permanent: true,
    scope: "both",
    needles: ["cannot open shared object file", "version `", "not found (required by"],
    pattern:
      /^(?:[\w.]*(?:ImportError|OSError|RuntimeError): |Could not load library \S{1,80}\. Error: |[\w./+-]{1,300}: (?=\/\S{1,300}: version ))?(?:[\w./ -]{0,200}: error while loading shared libraries: )?(?<library>[\w.+/-]{1,300}): (?:cannot open shared object file: No such file or directory|version [`'](?<version>[\w.]{1,40})' not found)/,
    unless: /NCCL INFO|TensorRT|dso_loader|Could not load dynamic library/,
    cause: (captured) =>
      captured["version"] === undefined
        ? `The shared library ${baseName(captured)} is not found by the loader.`
        : `This system's ${baseName(captured)} is too old: the package needs ${captured["version"]}.`,
    remedy: (captured) =>
      captured["version"] === undefined
        ? "Install the package that provides it (for CUDA: the build of the package that matches the installed CUDA), or add its folder to LD_LIBRARY_PATH."
        : "Use an older wheel of the package, build it on this machine, or run it in a container with a newer system.",
    subject: (captured) => ({ library: baseName(captured) }),
  }),
  rule({
    failure: "import-error",
    permanent: true,
    scope: "exception",
    needles: ["ImportError: "],
    pattern: /^ImportError: (?<what>.{1,200})/,
    weight: 1,
    cause: (captured) => `A Python package could not be loaded: ${group(captured, "what")}.`,
    remedy:
      "Check that the versions of the packages in this environment fit each other; reinstall the one that is named.",
    subject: (captured) => ({ what: group(captured, "what") }),
  }),
  rule({
    failure: "import-error",
    permanent: true,
    scope: "exception",
    weight: 1,
    needles: ["Failed to import ", "numpy.dtype size changed", "A module that was compiled using NumPy 1.x"],
    pattern: /^RuntimeError: Failed to import (?<what>[\w.]{1,120})|numpy\.dtype size changed/,
    cause: (captured) =>
      `A Python package could not be loaded${captured["what"] === undefined ? ": it was built for another version of numpy" : `: ${captured["what"]}`}.`,
    remedy:
      "Check that the versions of the packages in this environment fit each other; reinstall the one that is named.",
    subject: (captured) => ({ what: group(captured, "what") }),
  }),
  rule({
    failure: "import-error",
    permanent: true,
    needles: ["Could not load library lib", "Unable to load any of {lib"],
    pattern:
      /^(?:Could not load library (?<library>lib\S{1,80}?)\.? Error|Unable to load any of \{(?<first>lib[^,]{1,80}),)/,
    cause: (captured) =>
      `The shared library ${captured["library"] ?? group(captured, "first")} is not found by the loader.`,
    remedy:
      "Install the build of the package that matches the installed CUDA and cuDNN (pip install nvidia-cudnn-cu12), or add its folder to LD_LIBRARY_PATH.",
  }),
  // Popen of a bare name: the program is not on PATH
  rule({
    failure: "command-not-found",
    permanent: true,
    scope: "exception",
    needles: ["FileNotFoundError: [Errno 2]"],
    pattern:
      /^FileNotFoundError: \[Errno 2\] No such file or directory: '(?<program>[A-Za-z][\w+-]{0,60}|\/(?:\S{0,200}\/)?bin\/[^\s']{1,100})'/,
    unless: /'(?:data|out|output|outputs|logs?|models?|results?|tmp|checkpoints?|dataset|cache)'/,
    cause: missingProgramCause,
    remedy: missingProgramRemedy,
    subject: programSubject,
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    scope: "exception",
    needles: ["FileNotFoundError", "NotADirectoryError", "EntryNotFoundError"],
    pattern: /^(?:[\w.]*\.)?(?:FileNotFoundError|NotADirectoryError)(?:: (?:\[Errno 2\d?\] )?(?<what>.{0,300}))?/,
    weight: 1,
    cause: (captured) =>
      `A file or folder that the program needs does not exist: ${group(captured, "what") || "it is not named"}.`,
    remedy: "Check the path and the job's working folder (`cwd`); a relative path counts from there.",
    subject: (captured) => ({ path: /'([^']{1,300})'/.exec(group(captured, "what"))?.[1] ?? group(captured, "what") }),
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    needles: ["can't open file"],
    pattern:
      /^(?<program>[\w./-]*python[\d.]*): can't open file '?(?<path>[^']{1,300}?)'?: \[Errno (?<number>\d+)\] (?<what>.{1,60})/,
    cause: (captured) =>
      `Python could not open ${group(captured, "path")}: ${group(captured, "what").toLowerCase()}, seen from the folder the job was started in.`,
    remedy: "Check the script's path and the job's working folder (`cwd`).",
    subject: (captured) => ({ path: group(captured, "path") }),
  }),
  rule({
    failure: "permission",
    permanent: true,
    scope: "exception",
    needles: ["PermissionError"],
    pattern:
      /^(?:[\w.]*\.)?(?:OSError: )?PermissionError(?:: | at )(?:\[Errno 1?3?\] )?(?<what>[^:]{0,100})(?:: '(?<path>[^']{1,300})')?/,
    cause: (captured) => `The job's user may not read or write ${captured["path"] ?? "a file it needs"}.`,
    remedy:
      "Look at the owner with `ls -l`; ask for access (chmod/chgrp), or use a folder of your own (for the hub's cache: HF_HOME).",
    subject: (captured) => ({ path: group(captured, "path") }),
  }),
  rule({
    failure: "python-exception",
    permanent: true,
    needles: ["SyntaxError: ", "IndentationError: ", "TabError: "],
    pattern: /^(?<what>(?:SyntaxError|IndentationError|TabError): .{1,200})/,
    cause: (captured) => `Python cannot read the script: ${group(captured, "what")}.`,
    remedy: "Mend the line that is shown above, or run the script with the Python version it was written for.",
    subject: (captured) => ({ exception: group(captured, "what") }),
  }),
  rule({
    failure: "killed-oom",
    scope: "exception",
    needles: ["MemoryError", "Cannot allocate memory"],
    pattern:
      /^(?:(?:[\w.]*\.)?(?:MemoryError|_ArrayMemoryError)(?:$|:|\n)|OSError: \[Errno 12\] Cannot allocate memory)/,
    cause: "The machine's main memory ran out: Python could not get the memory it asked for.",
    remedy: "Use fewer workers or smaller pieces, or ask for more memory (--mem); `free -g` shows what else uses it.",
  }),
];

function topPackage(captured: Readonly<Record<string, string | undefined>>): string {
  return group(captured, "module").split(".")[0] ?? "";
}

function baseName(captured: Readonly<Record<string, string | undefined>>): string {
  return group(captured, "library").replace(/^.*\//, "");
}
