import { group, rule, type FailureRule } from "./rule";

/** Serving engines, chat templates, options. */
export const servingRules: readonly FailureRule[] = [
  rule({
    failure: "engine-dead",
    weight: 1,
    scope: "both",
    needles: [
      "EngineDeadError",
      "Engine core initialization failed",
      "Received sigquit from a child proc",
      "Executor failed",
      "Engine process failed",
      "Background loop",
      "engine is dead",
      "Engine loop is not running",
      "AsyncEngineDeadError",
      "Engine core proc",
      "EngineCore died",
    ],
    pattern:
      /^(?:(?:[\w.]*\.)?(?:Async)?EngineDeadError\b|(?:[\w.]*RuntimeError: )?(?:Engine core initialization failed|Executor failed\.?|Engine process failed to start|Engine loop is not running|Background loop (?:is stopped|has errored already))|Received sigquit from a child proces|Engine core proc \S{1,60} died unexpectedly)/,
    cause: "The serving engine is gone: this is the consequence, the cause stands above in the log.",
    remedy: "Mend the first error in the server's log, then start the server again; requests fail until then.",
  }),
  // It is the heading of the traceback that says why.
  rule({
    failure: "engine-dead",
    weight: 1,
    needles: ["EngineCore encountered", "EngineCore failed to start", "EngineCore hit an exception"],
    pattern: /^EngineCore (?:encountered a fatal error|failed to start|hit an exception)/,
    heading: true,
    cause: "The serving engine is gone: the exception below this line in the log says why.",
    remedy: "Mend the first error in the server's log, then start the server again; requests fail until then.",
  }),
  rule({
    failure: "template-error",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: ["chat template", "chat_template", "TemplateError", "UndefinedError"],
    pattern:
      /^(?:[\w.]*(?:Error|Exception)(?:\(\w{1,60}\))?: )?(?:.{0,200})(?:default chat template is no longer allowed|[Cc]annot use (?:chat template|apply_chat_template)|tokenizer\.chat_template is not set|does not (?:have|define) a chat template|chat template is not (?:set|defined))|^(?:jinja2\.exceptions\.)(?:TemplateError|TemplateSyntaxError|UndefinedError): (?<what>.{1,200})/,
    unless: /^(?:WARNING|INFO)|[Uu]sing (?:the )?default chat template/,
    cause: (captured) =>
      captured["what"] === undefined
        ? "The model's tokenizer has no chat template, so chat requests are refused."
        : `The chat template refuses the messages: ${captured["what"]}.`,
    remedy:
      "Give one with --chat-template FILE, serve the instruct variant of the model, or send messages in the roles and order that the template knows.",
  }),
  rule({
    failure: "config-error",
    permanent: true,
    scope: "both",
    weight: 2,
    needles: [
      "ValidationError",
      "max_model_len",
      "unrecognized arguments",
      "invalid choice",
      "the following arguments are required",
      "No such option",
      "Missing option",
      "unknown argument",
      "Unexpected argument",
      "not divisible",
      "must be divisible",
      "Unrecognized model",
      "does not recognize this architecture",
      "are not supported for now",
      "invalid value",
      "error: unexpected argument",
      "error: invalid argument",
      "error while handling argument",
      "error: invalid parameter",
      "expected one argument",
      "Missing key",
      "ConfigAttributeError",
      "ConfigKeyError",
      "ConfigCompositionException",
      "MissingConfigException",
      "HfArgumentParser",
      "No such command",
      "Got unexpected extra argument",
      "Invalid value for",
    ],
    pattern:
      /^(?:[\w.]*ValidationError: \d+ validation errors? for (?<model>\w{1,60})(?<detail>\n[^\n]{0,300}(?:\n[^\n]{0,300})?)?|[\w.]*(?:ValueError|AssertionError|RuntimeError|NotImplementedError|KeyError): (?<said>.{0,200}(?:max_model_len|(?:not|be) divisible|does not recognize this architecture|Unrecognized model|Unrecognized configuration|are not supported for now|Some keys are not used by))|[\w./ -]{1,80}: error: (?:unrecognized arguments|argument .{1,100}|the following arguments are required|ambiguous option|invalid choice).{0,200}|Error: (?:No such (?:option|command)|Missing (?:option|argument)|Invalid value for|Got unexpected extra argument).{0,200}|error while handling argument .{0,200}|error: (?:unknown argument|invalid (?:argument|value|parameter)|unexpected argument).{0,200}|(?:omegaconf|hydra)\.[\w.]{1,60}(?:Error|Exception).{0,200}|ValueError: Some specified arguments are not used by the HfArgumentParser.{0,200})/,
    cause: (captured) => {
      const detail = captured["said"] ?? group(captured, "detail").trim().split("\n")[0] ?? "";
      return `An option or value was refused at the start${detail === "" ? "" : `: ${detail.replace(/^Value error, /, "").slice(0, 220)}`}.`;
    },
    remedy: "Correct the option that the line names (`--help` shows what this version knows) and start again.",
  }),
  // older vLLM, SGLang, TGI, Ollama
  rule({
    failure: "engine-dead",
    weight: 1,
    scope: "both",
    needles: [
      "No heartbeat received from MQLLMEngine",
      "Engine process (pid",
      "MQEngineDeadError",
      " scheduler is dead",
      "SIGQUIT received. signum",
      "text_generation_launcher",
      "Error: Shard",
      "Error: Webserver",
      "Executor worker ",
    ],
    pattern:
      /^(?:(?:TimeoutError|RuntimeError)(?:: |\(')(?:No heartbeat received from MQLLMEngine|Engine process \(pid \d+\) died)|(?:[\w.]*\.)?MQEngineDeadError\b|Rank \d+ scheduler is dead|SIGQUIT received\. signum|(?:shard-manager: )?(?:text_generation_launcher: )?(?:Shard \d+ (?:crashed|failed to start)|Webserver Crashed)|Error: (?:Shard(?:CannotStart|Failed)|Webserver(?:Failed|CannotStart))\b|(?:RuntimeError: )?Executor worker (?:died|returned error))/,
    cause: "The serving engine is gone: this is the consequence, the cause stands above in the log.",
    remedy: "Mend the first error in the server's log, then start the server again; requests fail until then.",
  }),
  // SGLang
  rule({
    failure: "stalled",
    needles: ["Watchdog timeout (self.watchdog"],
    pattern: /^Watchdog timeout \(self\.watchdog\w{0,40}=(?<value>[\d.]{1,12})/,
    cause: "One step of the engine made no progress for minutes, so its watchdog stops the server.",
    remedy:
      "Start the server again; look at the GPUs (Xid in `dmesg`) and for a rank that hangs (`py-spy dump --pid PID`); if the step is only slow, raise --watchdog-timeout.",
  }),
  // Ollama: the server lives on
  rule({
    failure: "worker-died",
    weight: 1,
    needles: ["llama runner process"],
    pattern:
      /^(?:Error: .{0,60}|.{0,160}(?:error|msg)=".{0,40})?llama runner process (?:has terminated|no longer running)/,
    cause: "The process that runs the model died while it loaded it or answered; the request that needed it fails.",
    remedy:
      "Read its own lines above (memory, CUDA, a model file that this version does not know); `ollama ps` and `journalctl -u ollama` show more.",
  }),
  rule({
    failure: "template-error",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: [
      "Template error: ",
      "TemplateSyntaxError",
      "roles must alternate",
      "ystem role not supported",
      "nly user and assistant roles",
      "Jinja Exception: ",
      "custom template is not supported",
      "chat template parsing error",
      "parse chat template",
    ],
    pattern:
      /^(?:jinja2\.exceptions\.TemplateSyntaxError: (?<what>.{1,200})|(?:srv {1,8}[\w:]{1,40}(?:\(\))?: )?got exception: .{0,1000}(?:Jinja Exception|chat template)|[\w.]*(?:Error|Exception): .{0,600}(?:Jinja Exception|roles must alternate|[Ss]ystem role not supported|[Oo]nly user and assistant roles)|(?:.{0,60}: {1,2}|what\(\): {1,2})?(?:this custom template is not supported|chat template parsing error|failed to parse chat template)|[\w.]*(?:Error|Exception): .{0,300}Template error: )/,
    cause: (captured) =>
      `The chat template refuses the messages${captured["what"] === undefined ? "" : `: ${captured["what"]}`}.`,
    remedy:
      "Send messages in the roles and order that the template knows, give another with --chat-template FILE, or update the program (llama.cpp: --jinja).",
  }),
  // options: argparse, click, typer, clap, getopt, Go, Hydra
  rule({
    failure: "config-error",
    permanent: true,
    needles: [
      ": error: argument ",
      "unrecognized option",
      "unknown option",
      ": invalid option",
      "illegal option",
      "No such option",
      "no such option",
      "unrecognized subcommand",
      "required arguments were not provided",
      "a value is required for",
      "unknown flag: ",
      "unknown shorthand flag",
      "flag provided but not defined",
      "Unknown command line flag",
      "Could not override '",
      "Cannot find primary config",
      "Missing option",
      "Invalid value",
      "unknown command ",
      "invalid reference format",
      "qsub: ",
    ],
    pattern:
      /^(?:(?:│ )?(?:Error: )?(?:No such option:? .{1,80}|Missing (?:option|argument|parameter)[: ]['-].{0,80}|Invalid value(?: for|\.).{0,200})|[\w./ -]{1,80}: error: argument .{1,160}|(?!warning|WARNING|note)[\w./-]{1,60}: (?:unrecognized option|unknown option|invalid option|illegal option) {0,2}['"‘-].{0,80}|[\w./-]{1,60}: -{1,2}[\w-]{1,60}: unknown option|error: (?:unrecognized subcommand|the following required arguments were not provided|a value is required for).{0,120}|(?:Error: |ERROR: |docker: )?(?:unknown (?:shorthand )?flag: .{1,80}|unknown command ".{1,80}|no such option: .{1,80}|invalid reference format)|flag provided but not defined: .{1,80}|(?:FATAL )?Unknown command line flag .{1,80}|Could not override '.{1,120}'|Cannot find primary config '.{1,120}'|qsub: (?!waiting|job \S+ (?:ready|completed)).{1,160})/u,
    cause: "An option or value was refused at the start.",
    remedy: "Correct the option that the line names (`--help` shows what this version knows) and start again.",
  }),
  // values that a library refuses when it starts
  rule({
    failure: "config-error",
    permanent: true,
    scope: "exception",
    weight: 2,
    needles: [
      "is only supported on GPUs",
      "support bf16",
      "Check batch related parameters",
      "yaml.scanner.",
      "yaml.parser.",
      "DeepSpeedConfigError",
      "Unrecognized configuration class",
      "maximum context length",
      "NotFoundError: Error code: 404",
    ],
    pattern:
      /is only supported on GPUs|doesn't support bf16|Check batch related parameters|^yaml\.(?:scanner|parser)\.|DeepSpeedConfigError|Unrecognized configuration class|maximum context length (?:is|of) \d+|NotFoundError: Error code: 404 .{0,200}does not exist/,
    cause: "An option or value was refused at the start, or does not fit the model or this GPU.",
    remedy: "Correct what the message names (model name, lengths, data type, the configuration file) and start again.",
  }),
  rule({
    failure: "config-error",
    permanent: true,
    scope: "exception",
    weight: 1,
    needles: [" not supported ", "MisconfigurationException", "When using "],
    pattern:
      /^(?:[\w.]*(?:ValueError|NotImplementedError): .{0,200}\bnot supported (?:on|for|with|by|in)\b|[\w.]*MisconfigurationException: |ValueError: When using `)/,
    cause: "The program refuses this combination of options.",
    remedy: "Change the option that the message names and start again.",
  }),
  rule({
    failure: "config-error",
    scope: "both",
    permanent: true,
    needles: [
      "No such queue. Job not submitted",
      "Unable to run job: ",
      "error: error validating ",
      "MissingMandatoryValue: ",
      "Unsupported nproc_per_node value",
      "BuilderConfig '",
      "must be evenly divisible",
      "--load_best_model_at_end requires",
    ],
    pattern:
      /^(?:\S{1,60}: No such queue\. Job not submitted|Unable to run job: |error: error validating "|[\w.]*MissingMandatoryValue: |ValueError: (?:Unsupported nproc_per_node value|BuilderConfig '.{1,60}' not found|.{0,200}must be evenly divisible|--load_best_model_at_end requires))/,
    cause: "An option or value was refused at the start.",
    remedy: "Correct what the message names and start again.",
  }),
  rule({
    failure: "template-error",
    scope: "exception",
    weight: 3,
    permanent: true,
    needles: ["is not a built-in template name", "Template "],
    pattern:
      /^(?:RuntimeError: Chat template .{1,80} is not a built-in template name|ValueError: Template \S{1,60} does not exist)/,
    cause: "There is no chat template of this name.",
    remedy: "Take one of the names that the program knows, or give a file.",
  }),
  rule({
    failure: "engine-dead",
    needles: ["failed to load all models"],
    pattern: /^error: creating server: Internal - failed to load all models/,
    cause: "The model server ended because it could not load its models.",
    remedy: "Read the table of models above for the reason of each, mend it, and start the server again.",
  }),
];
