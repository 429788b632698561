import { group, rule, type FailureRule } from "./rule";

/** Serving engines, chat templates, options. */
export const servingRules: readonly FailureRule[] = [
  rule({
    failure: "engine-dead",
    weight: 1,
    scope: "both",
    needles: [
      "EngineDeadError",
      "EngineCore encountered",
      "Engine core initialization failed",
      "EngineCore failed to start",
      "Received sigquit from a child process",
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
      /^(?:(?:[\w.]*\.)?(?:Async)?EngineDeadError\b|(?:[\w.]*RuntimeError: )?(?:Engine core initialization failed|Executor failed\.?|Engine process failed to start|Engine loop is not running|Background loop (?:is stopped|has errored already))|EngineCore (?:encountered a fatal error|failed to start)|Received sigquit from a child process|Engine core proc \S{1,60} died unexpectedly)/,
    cause: "The serving engine is gone: this is the consequence, the cause stands above in the log.",
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
      "HfArgumentParser",
      "No such command",
      "Got unexpected extra argument",
      "Invalid value for",
    ],
    pattern:
      /^(?:[\w.]*ValidationError: \d+ validation errors? for (?<model>\w{1,60})(?<detail>\n[^\n]{0,300}(?:\n[^\n]{0,300})?)?|[\w.]*(?:ValueError|AssertionError|RuntimeError|NotImplementedError|KeyError): (?<said>.{0,200}(?:max_model_len|(?:not|be) divisible|does not recognize this architecture|Unrecognized model|Unrecognized configuration|are not supported for now|Some keys are not used by))|[\w./ -]{1,80}: error: (?:unrecognized arguments|argument .{1,100}|the following arguments are required|ambiguous option|invalid choice).{0,200}|Error: (?:No such (?:option|command)|Missing (?:option|argument)|Invalid value for|Got unexpected extra argument).{0,200}|error while handling argument .{0,200}|error: (?:unknown argument|invalid (?:argument|value|parameter)|unexpected argument).{0,200}|(?:omegaconf|hydra)\.[\w.]{1,60}Error.{0,200}|ValueError: Some specified arguments are not used by the HfArgumentParser.{0,200})/,
    cause: (captured) => {
      const detail = captured["said"] ?? group(captured, "detail").trim().split("\n")[0] ?? "";
      return `An option or value was refused at the start${detail === "" ? "" : `: ${detail.replace(/^Value error, /, "").slice(0, 220)}`}.`;
    },
    remedy: "Correct the option that the line names (`--help` shows what this version knows) and start again.",
  }),
];
