import { rule, type FailureRule } from "./rule";

/** Compilers at run time and at installation. */
export const compileRules: readonly FailureRule[] = [
  rule({
    failure: "compile-error",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: [
      "fatal error: ",
      "Failed to find C compiler",
      "returned non-zero exit status",
      "CUDA_HOME environment variable is not set",
      "BackendCompilerFailed",
      "InductorError",
      "Ninja is required",
      "PTXASError",
      "CompilationError",
      "nvcc fatal",
      "Error compiling objects",
      "ninja: build stopped",
      "error: command '",
    ],
    pattern:
      /^(?:[\w./+-]{1,300}:\d+:\d+: fatal error: (?<header>[\w./+-]{1,100}): No such file or directory|[\w.]*(?:RuntimeError|InductorError|BackendCompilerFailed|PTXASError|CompilationError|OSError|CalledProcessError): .{0,120}(?:Failed to find C compiler|(?:\/gcc|\/cc|\/c\+\+|\/g\+\+|nvcc|ninja)'.{0,2000}returned non-zero exit status|CUDA_HOME environment variable is not set|backend='inductor' raised|Ninja is required|Error compiling objects|[Ii]nternal Triton PTX codegen error)|(?:[\w.]*\.)?(?:InductorError|BackendCompilerFailed|CompilationError)\b|nvcc fatal {1,4}: .{1,120}|ninja: build stopped: .{1,80}|error: command '\S{0,100}(?:gcc|g\+\+|cc|c\+\+|nvcc|ninja)\S{0,20}' failed)/,
    cause: (captured) =>
      captured["header"] === "Python.h"
        ? "A small C program must be compiled at the start and the Python headers are not installed."
        : captured["header"] === undefined
          ? "The compiler failed (Triton, Inductor, gcc or nvcc); its reason stands in the lines above."
          : `The compiler did not find ${captured["header"]}.`,
    remedy:
      "Install a C compiler and the Python headers (gcc, python3.X-dev) and a CUDA toolkit that fits torch, or use the prebuilt wheel.",
  }),
  rule({
    failure: "compile-error",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: [
      "Error building extension",
      "CUDAMismatchException",
      "Ninja build failed",
      "ptxas exited",
      "OutOfResources: out of resource",
      "torch._dynamo.exc.",
      "torch._inductor.exc.",
      "LLVM ERROR: ",
      "Failed building wheel for",
      "error: metadata-generation-failed",
      "Failed to build ",
      "CMake Error at ",
      "nvcc error ",
      "ld returned ",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): .{0,120}(?:Error building extension|Ninja build failed|ptxas exited)|[\w.]*CUDAMismatchException\b|[\w.]*OutOfResources: out of resource|torch\._(?:dynamo|inductor)\.exc\.\w+|LLVM ERROR: .{1,120}|ERROR: Failed building wheel for \S{1,80}|error: metadata-generation-failed|[×x]? ?Failed to build [`'\w].{0,120}|CMake Error at \S{1,200}|nvcc error {1,4}: .{1,120}|collect2: error: ld returned \d)/,
    cause:
      "The compiler failed (nvcc, gcc, ninja, CMake or Triton); its reason stands in the lines above or below this one.",
    remedy:
      "Install a C++ compiler and a CUDA toolkit of the version that torch was built with, or use the prebuilt wheel; give the build fewer jobs (MAX_JOBS=4) if memory was short.",
  }),
  // make stops at a file that it should have compiled
  rule({
    failure: "compile-error",
    permanent: true,
    weight: 0,
    needles: ["make: *** [", "]: *** ["],
    pattern: /^g?make(?:\[\d+\])?: \*{3} \[.{0,200}\.(?:o|so|a|cu|cpp|c)\b[^\]]{0,100}\] Error \d+/,
    cause: "A file could not be compiled; the compiler's reason stands above.",
    remedy: "Mend the first error that the compiler names, and build again.",
  }),
];
