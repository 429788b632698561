import { rule, type FailureRule } from "./rule";

/** What ROCm, XLA, ONNX Runtime, TensorRT, FAISS and schedulers say of GPUs. */
export const gpuRuntimeRules: readonly FailureRule[] = [
  rule({
    failure: "cuda-error",
    scope: "both",
    weight: 3,
    needles: [
      "Memory access fault by GPU",
      "hipErrorNoBinaryForGpu",
      "HSA_STATUS_ERROR_",
      "rocBLAS error: ",
      "FlashAttention only supports",
      "Error named symbol not found",
    ],
    pattern:
      /^(?:Memory access fault by GPU node-\d|"?hipErrorNoBinaryForGpu: |:?\d{0,3}:?.{0,200}\bHSA_STATUS_ERROR_\w{1,60}|rocBLAS error: (?:Cannot read|Could not)|(?:[\w.]*Error: )?FlashAttention only supports|Error named symbol not found at line)/,
    cause: "The GPU refused the work: the program was not built for this GPU, or touched its memory wrongly.",
    remedy: "Install the build for this GPU and driver (of ROCm see HSA_OVERRIDE_GFX_VERSION).",
  }),
  rule({
    failure: "gpu-unavailable",
    scope: "both",
    weight: 3,
    needles: [
      "No HIP GPUs are available",
      "No visible GPU devices",
      "cannot find any torch accelerator",
      "Insufficient nvidia.com/gpu",
      "No available node types can fulfill",
      "Unable to open /dev/kfd",
      "You requested gpu: ",
    ],
    pattern:
      /^(?:[\w.]*Error: .{0,160}(?:No HIP GPUs are available|No visible GPU devices|cannot find any torch accelerator)|.{0,120}\d{1,6} nodes are available: .{0,200}Insufficient nvidia\.com\/gpu|Error: No available node types can fulfill resource request .{0,40}GPU|Unable to open \/dev\/kfd|[\w.]*MisconfigurationException: You requested gpu: )/,
    cause: "There is no GPU that the job could use.",
    remedy:
      "Look with nvidia-smi or rocm-smi, ask for GPUs where the scheduler or container gives them, and correct CUDA_VISIBLE_DEVICES.",
  }),
  rule({
    failure: "cuda-oom",
    scope: "both",
    weight: 3,
    needles: [
      "Ran out of memory in memory space hbm",
      "Failed to allocate memory for requested buffer",
      "CUDA failed with error out of memory",
      "StandardGpuResources",
      "Error Code 2: OutOfMemory",
      "Decode out of memory",
    ],
    pattern:
      /^(?:[\w.]*Error: RESOURCE_EXHAUSTED: .{0,200}Ran out of memory in memory space hbm|[\w.]*Exception: .{0,600}Failed to allocate memory for requested buffer|[\w.]*Error: CUDA failed with error out of memory|[\w.]*Error: .{0,300}StandardGpuResources.{0,600}out of memory|.{0,120}Error Code 2: OutOfMemory|Decode out of memory\.)/,
    cause: "The GPU ran out of memory.",
    remedy:
      "Let it work on less at once (batch size, sequence length, number of running requests), or on more GPUs; look with nvidia-smi whether another process holds memory.",
  }),
];
