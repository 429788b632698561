import { group, rule, type FailureRule } from "./rule";

const diskFull = {
  failure: "disk-full",
  permanent: true,
  cause: "The disk is full: no space is left for what the job writes.",
  remedy:
    "Free space (old checkpoints, ~/.cache/huggingface, /tmp) or write elsewhere, then start it again; most downloads resume.",
} as const;

/** Disks, quotas, file systems, shared memory, and files that are torn. */
export const storageRules: readonly FailureRule[] = [
  rule({
    failure: "disk-quota",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: ["Disk quota exceeded", "disk quota exceeded", "Errno 122"],
    pattern: /^.{0,500}?(?:: |\(|\] |, |: ")(?:[Dd]isk quota exceeded|\[Errno 122\])(?! checks)/,
    cause: "The user's quota on this file system is used up; the disk itself may still have room (df shows it).",
    remedy: "Look at `quota -s` or `lfs quota -u $USER`, move files elsewhere (scratch), and start again.",
  }),
  rule({
    failure: "shared-memory",
    scope: "both",
    weight: 3,
    needles: [
      ...["/dev/shm", "/torch_", "shared memory", "Bus error", "bus error", "posix_fallocate failed"],
      ...["failed (exitcode: -7)", "exits with return code = -7"],
    ],
    pattern:
      /Error while creating shared memory segment|NCCL WARN .{0,60}(?:failed to extend \/dev\/shm|posix_fallocate failed : No space left)|^(?:ERROR: )?Unexpected bus error encountered in worker|DataLoader worker \(pid(?:\(s\))? [\d, ]+\) is killed by signal: Bus error|^(?:[\w.]*Error: .{0,200})(?:No space left on device|unable to (?:open|write|resize|allocate) .{0,60}shared memory|\/dev\/shm).{0,120}(?:\/dev\/shm|shared memory|shm)|unable to (?:open|resize|allocate|mmap) shared memory object|torch_\d+_\d+_\d+.{0,40}(?:No space left|Cannot allocate)|^(?:[^\s:]{1,200}: line \d+: {1,8}\d+ |srun: error: \S{1,100}: tasks? [\d,-]{1,60}: )?Bus error\b(?! encountered)|^(?:failed \(exitcode: -7\)|.{0,200}exits with return code = -7\b)/,
    unless: /No available shared memory broadcast block|leaked shared_memory/,
    cause:
      "/dev/shm, the shared memory of the machine or container, is too small or full (Docker gives 64 MB by default).",
    remedy:
      "Start the container with --shm-size=16g or --ipc=host; use fewer DataLoader workers; remove stale files from /dev/shm.",
  }),
  rule({
    ...diskFull,
    scope: "both",
    weight: 3,
    needles: [
      "No space left on device",
      "no space left on device",
      "ENOSPC",
      "There is not enough space on the disk",
      "database or disk is full",
    ],
    pattern:
      /^(?:.{0,500}?(?:: |\(|\] |, |>: |message: "))?(?:[Nn]o space left on device|ENOSPC|(?:database or )?disk is full)/,
    unless: /no ['"]|\brisk\b|\/dev\/shm/,
  }),
  rule({
    ...diskFull,
    severity: "warning",
    needles: ["Not enough free disk space"],
    pattern: /^(?:.{0,300}UserWarning: )?Not enough free disk space to download the file/,
    cause: "The target disk is too small for the next file.",
    remedy: "Free space or choose another folder before the download fails.",
    subject: () => ({ sign: "expected" }),
  }),
  // wget and curl on a full disk
  rule({
    ...diskFull,
    weight: 1,
    needles: ["Cannot write to", "curl: (23) "],
    pattern: /^(?:Cannot write to ['‘].{1,300}['’] \(Success\)|curl: \(23\) )/u,
    cause: "The download could not be written: mostly the disk (or quota) is full.",
  }),
  // torch.save on a full disk says nothing about space
  rule({
    ...diskFull,
    scope: "exception",
    weight: 3,
    needles: ["unexpected pos", "PytorchStreamWriter failed writing file", "file write failed"],
    pattern: /unexpected pos \d+ vs \d+|PytorchStreamWriter failed writing file/,
    cause: "A checkpoint could not be written to its end: mostly the disk (or quota) is full.",
  }),
  rule({
    failure: "filesystem",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: [
      "Read-only file system",
      "Stale file handle",
      "Transport endpoint is not connected",
      "Input/output error",
      "Stale NFS file handle",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): .{0,100}|[\w./-]{1,60}: .{0,300}?)(?<what>Read-only file system|Stale (?:NFS )?file handle|Transport endpoint is not connected|Input\/output error)/,
    unless: /errors=remount-ro/,
    cause: (captured) =>
      `The file system failed: ${group(captured, "what").toLowerCase()}. Often after a disk error or a lost network mount.`,
    remedy: "Look at `dmesg` and `mount`, have it mounted again, and go on from the last checkpoint.",
  }),
  // safetensors, torch, GGUF, parquet, tar, gzip, zip, checksums
  rule({
    failure: "corrupt-file",
    permanent: true,
    scope: "exception",
    weight: 2,
    needles: [
      "Error while deserializing header",
      "PytorchStreamReader",
      "invalid load key",
      "Unpickling",
      "Parquet",
      "not a zip file",
      "BadZipFile",
      "BadGzipFile",
      "ReadError",
      "EOFError",
      "ArrowInvalid",
      "header too large",
      "incomplete metadata",
      "Consistency check failed",
      "Unable to load weights from pytorch",
      "zlib.error",
      "CRC check failed",
      "Invalid magic",
      "checksum mismatch",
    ],
    pattern:
      /Error while deserializing header|^zlib\.error: |Unable to load weights from pytorch checkpoint|PytorchStreamReader failed|UnpicklingError|Parquet magic bytes not found|ArrowInvalid: |BadZipFile|[Ff]ile is not a zip file|BadGzipFile|tarfile\.ReadError|EOFError: (?:Compressed file ended|Ran out of input)|header too large|incomplete metadata|Consistency check failed|CRC check failed|Invalid magic|checksum mismatch/,
    cause:
      "A file is cut off or damaged: its download or copy was interrupted, or it is an LFS pointer or a web page instead of the data.",
    remedy: "Find the short file (compare size or checksum with the source), delete it and download it again.",
  }),
  rule({
    failure: "corrupt-file",
    permanent: true,
    weight: 0,
    needles: ["error loading model: "],
    pattern: /^\w{1,60}: error loading model: .{1,200}/,
    unless:
      /unable to allocate|out of memory|failed to open|unknown model architecture|missing tensor|wrong (?:number of tensors|shape)/,
    cause: "The model file could not be read.",
    remedy:
      "Read the lines above; mostly it is cut off (compare its size with the source) or made for another version.",
  }),
  // llama.cpp says it in the same words as other faults of the file
  rule({
    failure: "weights-mismatch",
    permanent: true,
    needles: ["missing tensor '", "wrong number of tensors", "has wrong shape"],
    pattern: /^\w{1,60}: error loading model: .{0,200}(?:missing tensor|wrong number of tensors|has wrong shape)/,
    cause: "The GGUF file does not hold the tensors that this model needs.",
    remedy: "Convert or download the model again, with the version of llama.cpp that is used to run it.",
  }),
  rule({
    failure: "config-error",
    permanent: true,
    needles: ["unknown model architecture"],
    pattern: /^\w{1,60}: error loading model: .{0,100}unknown model architecture: '(?<model>[^']{1,60})'/,
    cause: (captured) => `This build of llama.cpp does not know models of the kind ${group(captured, "model")}.`,
    remedy: "Update llama.cpp (or the program that carries it), or choose another model.",
  }),
  rule({
    failure: "corrupt-file",
    permanent: true,
    needles: [
      "tar: Unexpected EOF",
      "does not look like a tar archive",
      "tar: Skipping to",
      "gzip: ",
      "sha256sum: ",
      "md5sum: ",
      "gguf_init",
      "llama_model_load",
      "Unexpected end of input",
      "Compressed data is corrupt",
      "zstd: ",
      ": FAILED",
      "End-of-central-directory",
      "failed to load model",
      "corrupted or incomplete",
    ],
    pattern:
      /^(?:tar: (?:Unexpected EOF in archive|.{0,60}does not look like a tar archive|Skipping to next header)|gzip: .{1,200}: (?:unexpected end of file|not in gzip format|invalid compressed data.{0,60})|(?:sha\d+sum|md5sum): WARNING: [1-9]\d* computed checksums? did NOT match|\s*End-of-central-directory signature not found|[\w./+-]{1,300}\.(?:safetensors|gguf|bin|pt|pth|tar|gz|zst|xz|zip|parquet|json|model|ckpt): FAILED(?: open or read)?\s*$|xz: .{1,200}: (?:Unexpected end of input|Compressed data is corrupt)|zstd: .{1,200}: (?:unsupported format|premature end).{0,60}|gguf_init_from_file\w*: .{0,200}(?:invalid magic|failed to read|bad magic).{0,120}|\w{1,60}: error loading model: .{0,100}(?:corrupted or incomplete|invalid magic|not within (?:the )?file bounds).{0,100})/,
    unless:
      /unable to allocate|out of memory|failed to open|unknown model architecture|missing tensor|wrong (?:number of tensors|shape)/,
    cause: "A file or archive is cut off or damaged.",
    remedy:
      "Compare its size or checksum with the source, delete it and fetch it again; what was unpacked so far is incomplete.",
  }),
  rule({
    ...diskFull,
    scope: "both",
    weight: 3,
    needles: ["Wrote only ", "Not enough disk space", "errNum=28", "NoSpaceLeft"],
    pattern:
      /^(?:tar: .{1,300}: Wrote only \d+ of \d+ bytes|(?:[\w.]*Error: )?Not enough disk space\. Needed|.{0,200}errNum=28 |NoSpaceLeftError\b)/,
  }),
  rule({
    ...diskFull,
    severity: "warning",
    needles: ["% full, available space"],
    pattern: /^\S{1,200} is over \d+% full, available space: .{1,80}/,
    cause: "The disk is nearly full.",
    remedy: "Free space or choose another folder before the job fails.",
    subject: () => ({ sign: "expected" }),
  }),
  // further words of the C library, and the kernel's
  rule({
    failure: "filesystem",
    permanent: true,
    scope: "both",
    weight: 2,
    needles: [
      "Remote I/O error",
      "emounting filesystem read-only",
      "I/O error, dev ",
      "Structure needs cleaning",
      "Cannot send after transport endpoint shutdown",
      "No locks available",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): .{0,100}|[\w./-]{1,60}: .{0,300}?|(?:EXT4|XFS|BTRFS)[\w ()-]{0,60}: )?(?<what>Remote I\/O error|[Rr]emounting filesystem read-only|(?:blk_update_request: )?I\/O error, dev \w{1,30}|Structure needs cleaning|Cannot send after transport endpoint shutdown|No locks available)/,
    cause: (captured) => `The file system failed: ${group(captured, "what").toLowerCase()}.`,
    remedy:
      "Look at `dmesg` and `mount`, have it mounted again or the disk checked, and go on from the last checkpoint.",
  }),
  rule({
    failure: "corrupt-file",
    permanent: true,
    scope: "both",
    weight: 2,
    needles: [
      ": Decoding error (",
      "is corrupt",
      ".git/objects/",
      "truncated file: eof",
      "file signature not found",
      "DO NOT MATCH THE HASHES",
      "ChecksumMismatchError",
      "InvalidArchiveError",
      "expected value at line 1 column 1",
      "errorCode=32 ",
      "missing an end-of-central-directory",
      "cannot find zipfile directory",
    ],
    pattern:
      /^(?:[\w./+-]{1,300} : Decoding error \(\d+\)|fatal: loose object \w{6,64} .{0,200}is corrupt|error: object file \S{0,200}\.git\/objects\/\S{1,100} is empty|OSError: .{0,80}(?:truncated file: eof|file signature not found)|ERROR: THESE PACKAGES DO NOT MATCH THE HASHES|(?:ChecksumMismatchError|InvalidArchiveError)\b|Exception: expected value at line 1 column 1|unzip: {1,2}cannot find zipfile directory|.{0,200}errorCode=32 )/,
    cause: "A file is cut off or damaged: its download or copy was interrupted.",
    remedy: "Compare its size or checksum with the source, delete it and fetch it again.",
  }),
  rule({
    failure: "shared-memory",
    severity: "warning",
    needles: ["instead of /dev/shm because"],
    pattern:
      /^(?:WARNING: )?The object store is using \S{1,60} instead of \/dev\/shm because \/dev\/shm has only \d+ bytes/,
    cause: "/dev/shm, the shared memory of the machine or container, is too small for Ray's object store.",
    remedy: "Start the container with --shm-size=16g (more than 30 % of the memory) or --ipc=host.",
    subject: () => ({ sign: "slow" }),
  }),
  rule({
    failure: "disk-full",
    scope: "both",
    weight: 3,
    needles: ["write error (disk full?)", "database or disk is full", "OutOfDiskError"],
    pattern:
      /^(?:.{1,300}: {1,4}write error \(disk full\?\)|[\w.]*OperationalError: .{0,60}database or disk is full|[\w.]*OutOfDiskError: )/,
    cause: "The disk is full.",
    remedy: "Free space or write elsewhere (`df -h`), then start again; what was written last may be incomplete.",
  }),
  rule({
    failure: "filesystem",
    needles: ["not responding, timed out"],
    pattern: /^nfs: server \S{1,120} not responding, timed out/,
    cause: "The file server does not answer.",
    remedy: "Ask who runs the file server; jobs that wait for it go on or fail when it is back.",
  }),
  rule({
    failure: "corrupt-file",
    scope: "both",
    weight: 3,
    permanent: true,
    needles: [
      "DataLossError: ",
      "untagged enum ModelWrapper",
      "could not parse ModelProto from",
      "mmap length is greater than file size",
      "UnidentifiedImageError: ",
    ],
    pattern:
      /^(?:[\w.]*DataLossError: .{0,300}(?:corrupted|truncated) record|[\w.]*Exception: data did not match any variant of untagged enum ModelWrapper|[\w.]*Error: .{0,60}could not parse ModelProto from|ValueError: mmap length is greater than file size|[\w.]*UnidentifiedImageError: cannot identify image file)/,
    cause: "A file is damaged or cut off, or written by a newer version of its library.",
    remedy: "Fetch or write the file again; of a tokenizer, update transformers and tokenizers.",
  }),
];
