import { group, rule, type FailureRule } from "./rule";

const vllmMemoryRemedy =
  "Stop the other process on this GPU (nvidia-smi shows it), then lower --gpu-memory-utilization, --max-model-len or --max-num-seqs.";

/** GPU memory, CUDA, the driver and the hardware. */
export const gpuRules: readonly FailureRule[] = [
  // torch: RuntimeError (1.x), torch.cuda.OutOfMemoryError (2.x), torch.OutOfMemoryError (newer)
  rule({
    failure: "cuda-oom",
    scope: "both",
    weight: 3,
    needles: ["CUDA out of memory", "HIP out of memory", "CUDA error: out of memory"],
    pattern:
      /^(?:[\w.]*(?:OutOfMemoryError|RuntimeError|AcceleratorError|Error|Exception)(?:\(\w{1,60}\))?: )(?:.{0,200}?)(?:(?:CUDA|HIP) out of memory|CUDA error: out of memory)(?:\. Tried to allocate (?<size>[\d.]+ \w?i?B))?/,
    cause: (captured) =>
      `The GPU ran out of memory${captured["size"] === undefined ? "" : ` (${captured["size"]} more were asked for)`}.`,
    remedy:
      "Use a smaller batch or shorter sequences, gradient checkpointing, or more GPUs; look with nvidia-smi whether another process holds memory. PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True helps against fragmentation.",
  }),
  rule({
    failure: "cuda-oom",
    scope: "both",
    weight: 3,
    needles: [
      "Free memory on device",
      "No available memory for the cache blocks",
      "estimated maximum model length",
      "than the maximum number of tokens that can be stored in KV cache",
      "KV cache is needed, which is larger than the available",
    ],
    pattern:
      /^(?:[\w.]*(?:ValueError|RuntimeError|Error): )(?:Free memory on device|No available memory for the cache blocks|To serve at least one request with the models?'s max seq len|The model's max seq len \([\d,]+\) is larger than the maximum number of tokens that can be stored in KV cache)/,
    cause:
      "There is too little free GPU memory for the server's share: the weights or another process already fill it, and nothing is left for the KV cache.",
    remedy: vllmMemoryRemedy,
  }),
  rule({
    failure: "cuda-oom",
    scope: "both",
    weight: 3,
    needles: ["mem-fraction-static", "mem_fraction_static"],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): )(?:.{0,200})(?:Not enough memory|[Oo]ut of memory).{0,200}mem[-_]fraction[-_]static/,
    cause: "The share of GPU memory that SGLang gives to weights and cache leaves nothing for the KV cache.",
    remedy:
      "Raise --mem-fraction-static (in SGLang it is the share for weights and cache together), or use more GPUs (--tp).",
  }),
  rule({
    failure: "cuda-oom",
    weight: 3,
    needles: [
      "cudaMalloc failed",
      "failed to allocate buffer",
      "unable to allocate CUDA",
      "unable to allocate backend buffer",
      "out of memory",
    ],
    pattern:
      /^(?:\w{1,60}: )?(?:.{0,60}cudaMalloc failed: out of memory|failed to allocate buffer of size \d+|unable to allocate (?:CUDA\d+|backend) buffer|CUDA error: out of memory|CUDA error \d+ at .{1,200}: out of memory)/,
    cause: "The GPU has too little free memory for this model and context.",
    remedy:
      "Put fewer layers on the GPU (-ngl), use a shorter context (-c) or a smaller quantisation, or free the GPU.",
  }),
  // JAX, TensorFlow, TensorRT-LLM, cuBLAS
  rule({
    failure: "cuda-oom",
    scope: "both",
    weight: 3,
    needles: [
      ...["RESOURCE_EXHAUSTED: ", "OOM when allocating", "cudaMallocAsync(", "CUBLAS_STATUS_ALLOC_FAILED"],
      ...["CUDA_ERROR_OUT_OF_MEMORY", "Out of memory allocating", "out_of_memory: CUDA", "enough GPU RAM to fit"],
    ],
    pattern:
      /^[\w.]*Error: (?:.{0,80})(?:RESOURCE_EXHAUSTED: Out of memory|OOM when allocating tensor|CUBLAS_STATUS_ALLOC_FAILED|CUDA_ERROR_OUT_OF_MEMORY|Out of memory allocating [\d,]+ bytes|std::bad_alloc: out_of_memory: CUDA|Some modules are dispatched on the CPU or the disk)|^(?:\[TensorRT-LLM\]\[ERROR\] |.{0,60}\[TensorRT-LLM\]\[ERROR\] ).{0,200}CUDA runtime error in .{0,200}: out of memory/,
    cause: "The GPU ran out of memory.",
    remedy:
      "Use a smaller batch or shorter sequences; look with nvidia-smi whether another process holds memory (JAX takes 75 % at its start: XLA_PYTHON_CLIENT_MEM_FRACTION).",
  }),
  rule({
    failure: "driver-mismatch",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: [
      "NVML/RM version mismatch",
      "driver/library version mismatch",
      "Driver/library version mismatch",
      "system has unsupported display driver / cuda driver combination",
      "Error 803",
      "NVRM: API mismatch",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|NVMLError_LibRmVersionMismatch): |.{0,120}(?:UserWarning|RuntimeError): .{0,200}|.{0,60}[Ff]ailed to initialize NVML: |.{0,600}nvml error: )?.{0,200}?(?:NVML\/RM version mismatch|[Dd]river\/library version mismatch|Error 803|unsupported display driver|^NVRM: API mismatch: )/,
    cause:
      "The NVIDIA driver's libraries were changed while the old kernel module is still loaded (or a container brings others). Jobs that already run go on.",
    remedy:
      "Reboot the host or reload the NVIDIA kernel modules when no job needs them; hold the driver packages against automatic updates.",
  }),
  rule({
    failure: "gpu-unavailable",
    scope: "both",
    needles: [
      "No devices were found",
      "No CUDA GPUs are available",
      "no CUDA-capable device",
      "Found no NVIDIA driver",
      "couldn't communicate with the NVIDIA driver",
      "Torch not compiled with CUDA enabled",
      "CUDA unknown error",
      "cudaGetDeviceCount",
      "Failed to infer device type",
      "invalid device ordinal",
      "CUDA driver initialization failed",
      "torch.cuda.is_available() is False",
      "No supported gpu backend found",
      "No GPU found. A GPU is needed",
      "required GPUs exceeds the total",
      "Failed to initialize NVML",
      "NVIDIA-SMI couldn't find libnvidia-ml",
      "Unable to determine the device handle",
    ],
    pattern:
      /^(?:(?:[\w.]*(?:Error|Exception)): .{0,200}?)?(?:No devices were found\s*$|No CUDA GPUs are available|(?:CUDA error: )?no CUDA-capable device is detected|Found no NVIDIA driver|NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver|Torch not compiled with CUDA enabled|(?:CUDA error: )?invalid device ordinal|Failed to infer device type|Unexpected error from cudaGetDeviceCount\(\)|CUDA unknown error|CUDA driver initialization failed|Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False|No supported gpu backend found|No GPU found\. A GPU is needed|NVIDIA-SMI couldn't find libnvidia-ml|The number of required GPUs exceeds the total|Failed to initialize NVML: (?:Unknown Error|Driver Not Loaded|GPU access blocked|Not Found))/,
    cause: "No usable GPU is visible to the job.",
    remedy:
      "Look at `nvidia-smi` and CUDA_VISIBLE_DEVICES on the host; in a container start it with --gpus all; with Slurm ask for GPUs (--gres=gpu:N); the installed PyTorch must be a CUDA build.",
  }),
  rule({
    failure: "gpu-fallen-off-bus",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: ["fallen off the bus", "Unable to determine the device handle for GPU", "GPU is lost", "NVRM: Xid ("],
    pattern:
      /(?:^NVRM: (?:Xid \([^)]{1,60}\): 79,|.{0,120}fallen off the bus)|^(?:nvidia-smi: )?Unable to determine the device handle for GPU ?(?<gpu>[\w:.]{0,40})|^.{0,200}\bGPU is lost\b)/,
    cause: "A GPU no longer answers on the PCIe bus (Xid 79); every job on it is lost.",
    remedy:
      "Nothing in the job helps: use another GPU or host; the administrator must reset the GPU or power-cycle the machine.",
  }),
  rule({
    failure: "gpu-ecc",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: ["NVRM: Xid (", "uncorrectable ECC error", "ncorrectable ECC", "CUDA_ERROR_ECC_UNCORRECTABLE"],
    pattern:
      /(?:^NVRM: Xid \([^)]{1,60}\): (?:48|64|92|94|95|140),|(?:CUDA error: |^)uncorrectable ECC error encountered|^.{0,100}Error: .{0,200}[Uu]ncorrectable ECC|CUDA_ERROR_ECC_UNCORRECTABLE)/,
    cause: "The GPU found a memory error that it cannot correct (ECC).",
    remedy:
      "Nothing in the job helps: start it again on another GPU; the administrator should reset this one (Xid 48/94/95).",
  }),
  rule({
    failure: "cuda-error",
    needles: ["NVRM: Xid ("],
    pattern: /^NVRM: Xid \([^)]{1,60}\): (?<xid>13|31|32|43|61|62|69|74|109|119|120),/,
    cause: (captured) =>
      `The NVIDIA driver reported Xid ${group(captured, "xid")}: a program on the GPU failed, or the GPU itself.`,
    remedy:
      "Look up the Xid; if the same GPU reports it again with other programs, use another one and have it checked.",
    subject: (captured) => ({ xid: group(captured, "xid") }),
  }),
  rule({
    failure: "cuda-error",
    severity: "warning",
    permanent: true,
    needles: ["is not compatible with the current PyTorch installation"],
    pattern:
      /^(?:.{0,300}UserWarning: ?)?(?<gpu>.{1,80}?) with CUDA capability (?<capability>sm_\d+) is not compatible with the current PyTorch installation/,
    cause: (captured) =>
      `This PyTorch build has no code for the GPU ${group(captured, "gpu")} (${group(captured, "capability")}).`,
    remedy: "Install a PyTorch wheel built for a newer CUDA version.",
    subject: (captured) => ({ gpu: group(captured, "gpu") }),
  }),
  rule({
    failure: "cuda-error",
    permanent: true,
    scope: "both",
    needles: ["no kernel image is available"],
    pattern: /^(?:[\w.]*(?:Error|Exception): )?.{0,200}no kernel image is available/,
    cause: "A GPU kernel could not run because the installed build does not support this GPU.",
    remedy: "Install a build of PyTorch (or of the named extension) for this GPU's generation.",
    subject: () => ({ error: "no kernel image" }),
  }),
  rule({
    failure: "cuda-error",
    scope: "exception",
    needles: ["device-side assert"],
    pattern: /CUDA error: device-side assert triggered/,
    cause: "A check on the GPU failed (device-side assert): mostly a token id, label or position outside of its table.",
    remedy:
      "Run once with CUDA_LAUNCH_BLOCKING=1, look at the assertion above, and check the tokenizer's size, labels and sequence lengths.",
    subject: () => ({ error: "device-side assert" }),
  }),
  rule({
    failure: "cuda-error",
    scope: "both",
    needles: ["CUDA error: ", "CUDA driver error: ", "cudaError", "CUBLAS_STATUS_", "CUDNN_STATUS_", "HIP error: "],
    pattern:
      /^(?:[\w.]*(?:Error|Exception)(?:\(\w{1,60}\))?: .{0,200}?|what\(\): {1,2})?(?:(?:CUDA|HIP)(?: driver)? error: (?<what>[\w ().-]{3,100})|.{0,80}(?<library>(?:CUBLAS|CUDNN)_STATUS_(?!SUCCESS)\w{3,60}))/,
    unless: /NCCL error|^Compile with/,
    cause: (captured) => `CUDA refused a call: ${captured["what"] ?? group(captured, "library")}.`,
    remedy:
      "Run once with CUDA_LAUNCH_BLOCKING=1 to see the true place; check `dmesg` for Xid messages and that driver, CUDA and the packages fit each other.",
    subject: (captured) => ({ error: (captured["what"] ?? group(captured, "library")).trim() }),
  }),
  // JAX, TensorFlow, TensorRT, Triton, forked processes
  rule({
    failure: "cuda-error",
    scope: "both",
    needles: [
      ...["CUDA_ERROR_", "CUDA runtime error in ", ": Cuda Runtime (", "Triton Error [CUDA]"],
      ...["Cannot re-initialize CUDA in forked", "CUDA call failed lazily", "cuDNN Frontend error: "],
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): .{0,200}?(?<name>CUDA_ERROR_(?!OUT_OF_MEMORY|NO_DEVICE)\w{3,60})|(?:Failed setting context|could not synchronize on CUDA context|.{0,80}failed to (?:launch|synchronize|enqueue).{0,80}): (?<said>CUDA_ERROR_\w{3,60})|(?:\[TensorRT-LLM\]\[ERROR\] )?.{0,200}CUDA runtime error in .{0,200}?: (?<what>(?!out of memory)[\w ]{3,80})|.{0,120}Error Code \d+: Cuda Runtime \((?<reason>[^)]{1,80})\)|[\w.]*RuntimeError: (?:Triton Error \[CUDA\]: (?<kernel>.{1,80})|Cannot re-initialize CUDA in forked subprocess|cuDNN Frontend error: (?<plan>.{1,80}))|[\w.]*DeferredCudaCallError: )/,
    cause: (captured) =>
      `CUDA refused a call: ${captured["name"] ?? captured["said"] ?? captured["what"] ?? captured["reason"] ?? captured["kernel"] ?? captured["plan"] ?? "it was not set up as it should be in this process"}.`,
    remedy:
      "Run once with CUDA_LAUNCH_BLOCKING=1 to see the true place; check `dmesg` for Xid messages and that driver, CUDA and the packages fit each other. In forked processes use the start method `spawn`.",
    subject: (captured) => ({
      error: captured["name"] ?? captured["said"] ?? captured["what"] ?? captured["reason"] ?? "set-up",
    }),
  }),
  rule({
    failure: "cuda-error",
    permanent: true,
    scope: "exception",
    needles: ["driver on your system is too old"],
    pattern: /The NVIDIA driver on your system is too old/,
    cause: "The NVIDIA driver is too old for the CUDA version that this build of PyTorch needs.",
    remedy: "Update the driver, or install a PyTorch wheel for an older CUDA version.",
    subject: () => ({ error: "driver too old" }),
  }),
  // the assertion itself, when no traceback follows
  rule({
    failure: "silent-fallback",
    severity: "warning",
    needles: [
      "no usable GPU found",
      "Could not find any nv files",
      "NVIDIA Driver was not detected",
      "CUDA is not available",
      "CUDA not available",
      "GPU not available",
      "GPU not found",
      "falling back to CPU",
      "Falling back to CPU",
      "running on CPU",
      "Skipping registering GPU devices",
      "Falling back to cpu",
      "ggml_cuda_init: failed",
      "UserWarning: CUDA initialization",
      "failed call to cuInit: ",
      "Cannot dlopen some GPU libraries",
      "used: False",
      "CUDAExecutionProvider",
      "libonnxruntime_providers_cuda",
      "no compatible GPUs were discovered",
      "not compiled with GPU offload support",
      "Can't initialize NVML",
      ...["ing to CPU", "back to CPU", "back to cpu", " on CPU", " on the CPU", "using CPU", "Using CPU", "using cpu"],
    ],
    pattern:
      /^(?:(?:WARNING|warning|Warning|INFO)?:? {0,8})(?:Skipping registering GPU devices|An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed|ggml_cuda_init: failed to initialize CUDA|.{0,200}UserWarning: CUDA initialization: |no usable GPU found|Could not find any nv files on this host|The NVIDIA Driver was not detected|.{0,200}UserWarning: (?:CUDA is not available|.{0,100}CUDA is not available)|(?:CUDA|GPU) (?:is )?not (?:available|found)[,;.]? ?(?:[Ff]alling back to|[Uu]sing|[Rr]unning on) (?:the )?CPU|failed call to cuInit: |Cannot dlopen some GPU libraries|GPU available: True \(\w+\), used: False|.{0,300}UserWarning: (?:Specified provider 'CUDAExecutionProvider' is not in available|Can't initialize NVML|User provided device_type of 'cuda', but CUDA is not available)|(?:\[.{1,160}\] )?(?:.{0,200}Failed to load library libonnxruntime_providers_cuda|Failed to create CUDAExecutionProvider)|.{0,200}no compatible GPUs were discovered|not compiled with GPU offload support|(?:[Nn]o |[Nn]either )(?:\w+ )?(?:GPU|CUDA|cuda)[^.;]{0,60}(?:found|available|detected|visible|present)\b.{0,30}\b(?:CPU|cpu)\b|(?:\w{1,20} )?(?:CUDA|GPUs?|cuda) (?:is |are |was |were )?(?:not |un)(?:available|found|detected|usable|supported)[^.]{0,30}\b(?:[Ff]all|[Dd]efault|[Ss]witch|[Uu]s|[Rr]unn)ing\b.{0,12}\b(?:CPU|cpu)\b)/,
    cause: "No GPU is used: the program goes on on the CPU, many times slower.",
    remedy:
      "Check `nvidia-smi` where it runs; install the GPU build of the program; in a container pass the GPUs (--gpus all, --nv) with the NVIDIA container toolkit.",
  }),
];
