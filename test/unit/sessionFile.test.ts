import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { SessionFileProblem, StageDefinition } from "../../src/core/session/definition";
import { parseSessionFile } from "../../src/core/session/sessionFile";

const sketch = readFileSync("test/fixtures/session/sketch.yaml", "utf8");
const plain = readFileSync("test/fixtures/session/plain.yaml", "utf8");

/** Problems as `severity code "text at the place" message`. */
function said(text: string): string[] {
  return parseSessionFile(text).problems.map(
    ({ severity, code, message, range }) =>
      `${severity} ${code} ${JSON.stringify(text.slice(range.from, range.to))} ${message}`,
  );
}

function only(text: string): SessionFileProblem & { readonly at: string } {
  const { problems } = parseSessionFile(text);
  assert.equal(problems.length, 1, JSON.stringify(problems));
  const [problem] = problems;
  assert.ok(problem);
  return { ...problem, at: text.slice(problem.range.from, problem.range.to) };
}

function stage(text: string, name: string): StageDefinition {
  const found = parseSessionFile(text).definition?.stages.get(name);
  assert.ok(found, `no stage ${name}`);
  return found;
}

/** A file with one host and these lines below `stages`. */
function withStages(...lines: string[]): string {
  return ["session: s", "hosts: { h: { ssh: h } }", "stages:", ...lines.map((line) => `  ${line}`), ""].join("\n");
}

describe("a session file", () => {
  test("of supported parts only has no problems and says all of it", () => {
    assert.deepEqual(said(plain), []);
    const { definition } = parseSessionFile(plain);
    assert.ok(definition);
    assert.equal(definition.name, "night.run_1");
    assert.deepEqual(definition.hosts.get("gpu8"), {
      name: "gpu8",
      address: { kind: "direct", user: "me", host: "10.0.0.5", port: 2222 },
      path: ["/root/ml-env/bin"],
      setup: ["module load cuda/13.1", "ulimit -n 65536"],
      shell: "bash",
      env: { HF_HOME: "/data/hf", OMP_NUM_THREADS: "8", VERSION: "0.10", FLAG: "true" },
      secrets: [],
      stateDir: "/scratch/state",
    });
    assert.deepEqual(definition.hosts.get("here")?.address, { kind: "local" });
    assert.equal(definition.hosts.get("here")?.stateDir, "~/.local/state/ml-session");
    assert.deepEqual([...definition.services.keys()], ["vllm"]);
    assert.equal(definition.services.get("vllm")?.log, "/data/run/vllm.log");
    assert.deepEqual(definition.services.get("vllm")?.gpus, [0, 1]);
    const train = definition.stages.get("train");
    assert.ok(train);
    const { range, commandRange, ...rest } = train;
    assert.equal(plain.slice(range.from, range.to), "train");
    assert.ok(commandRange);
    assert.match(plain.slice(commandRange.from, commandRange.to), /^\|\n\s+torchrun/);
    assert.deepEqual(rest, {
      name: "train",
      kind: "training",
      host: "gpu8",
      command: 'torchrun train.py --out "$OUT"\necho {{.Names}} done\n',
      cwd: "/data/run/code",
      log: "/data/run/train.log",
      env: { SEED: "1", MODE: "full" },
      needs: ["download", "vllm"],
      gpus: "all",
      progress: { total: 25000, pattern: String.raw`(?<done>\d+)/(?<total>\d+)` },
      stalledAfterSeconds: 5400,
      doneWhen: { files: ["/data/run/out/*.pt", "final.json"], minBytes: 1_500_000_000 },
      retries: { max: 0, on: "transient", backoffSeconds: 30 },
      whenBusy: "wait",
      stop: { signal: "INT", graceSeconds: 120 },
      members: ["0"],
      unsupported: [],
    });
    assert.deepEqual(definition.stages.get("download")?.doneWhen, {
      files: ["/data/run/model"],
      minBytes: 314_572_800,
    });
  });

  test("as sketched in the design is read whole, and what is not built yet is refused by name", () => {
    const { definition, problems } = parseSessionFile(sketch);
    assert.ok(problems.every(({ severity, code }) => severity === "warning" && code === "unsupported"));
    assert.deepEqual(
      problems.map(({ range }) => sketch.slice(range.from, range.to)),
      ["systemd", "ready", "metrics", "journal", "until", "fail_when", "timeout", "notify"],
    );
    assert.equal(
      problems.find(({ range }) => sketch.startsWith("timeout", range.from))?.message,
      "`timeout` is not supported yet: the stage can be watched, but not launched.",
    );
    assert.deepEqual([...(definition?.stages.keys() ?? [])], ["download", "inference", "extract", "train"]);
    assert.deepEqual(stage(sketch, "download").unsupported, []);
    assert.deepEqual(stage(sketch, "inference").unsupported, ["`fail_when` is not supported yet"]);
    assert.deepEqual(definition?.hosts.get("gpu8")?.secrets, ["HF_TOKEN"]);
    assert.equal(stage(sketch, "download").log, "/data/eagle3/download.log");
    assert.equal(stage(sketch, "inference").stalledAfterSeconds, 900);
    assert.equal(stage(sketch, "train").stop.graceSeconds, 120);
  });

  test("knows every other form that the design mentions", () => {
    for (const lines of [
      "logs: [/a/*.log, { journal: a.service }, { tmux: 'a:0.1' }, { docker: box }]",
      "log: { docker: box }",
      "log: { tmux: a }",
      "array: 0-7",
      "array: 4",
      "launcher: slurm",
      "fail_when: { log_line: NaN }",
    ]) {
      const text = withStages(`a: { command: x, ${lines} }`);
      const { code, severity } = only(text);
      assert.deepEqual([code, severity], ["unsupported", "warning"], lines);
      assert.equal(stage(text, "a").unsupported.length, 1, lines);
    }
    for (const host of ["launcher: tmux", "launcher: systemd"]) {
      const text = `session: s\nhosts: { h: { ssh: h, ${host} } }\nstages: { a: { command: x } }\n`;
      assert.equal(only(text).code, "unsupported", host);
      assert.equal(stage(text, "a").unsupported.length, 1, host);
    }
    assert.deepEqual(said("session: s\nhosts: { h: { launcher: detached } }\nstages: { a: { command: x } }\n"), []);
  });

  test("gives each stage a kind by its name or command", () => {
    const kinds = { get_model: "hf download a/b", train: "x", a: "torchrun x.py", synth: "x", hidden: "x", z: "make" };
    const text = withStages(...Object.entries(kinds).map(([name, command]) => `${name}: { command: ${command} }`));
    const { definition } = parseSessionFile(text);
    assert.deepEqual(
      [...(definition?.stages.values() ?? [])].map(({ kind }) => kind),
      ["download", "training", "training", "inference", "extraction", "other"],
    );
  });

  test("keeps the order of its stages, numbers too", () => {
    const text = withStages("b: { command: x }", "2: { command: x }", "1: { command: x }");
    assert.deepEqual([...(parseSessionFile(text).definition?.stages.keys() ?? [])], ["b", "2", "1"]);
  });

  test("may use anchors and merge keys", () => {
    const text = withStages("a: &base { command: x, stalled_after: 5m }", "b: { <<: *base, command: y }");
    assert.deepEqual(said(text), []);
    assert.equal(stage(text, "b").command, "y");
    assert.equal(stage(text, "b").stalledAfterSeconds, 300);
  });

  test("may have CRLF, a BOM and no line break at the end", () => {
    const text = `\ufeff${plain.replaceAll("\n", "\r\n").trimEnd()}`;
    assert.deepEqual(said(text), []);
    const { range } = stage(text, "train");
    assert.equal(text.slice(range.from, range.to), "train");
  });
});

describe("what is wrong in a session file", () => {
  test("is said when it is empty, has no hosts or no name", () => {
    assert.match(only("").message, /empty/);
    assert.match(only("# nothing\n").message, /empty/);
    assert.match(only("session: s\nstages: {}\n").message, /There are no `hosts`/);
    const nameless = "hosts: { h: {} }\n";
    assert.match(only(nameless).message, /`session` is missing/);
    assert.equal(parseSessionFile(nameless).definition, undefined);
    assert.equal(only("just a text").code, "schema");
    assert.equal(only("- a\n- b\n").code, "schema");
  });

  test("stands at the place of an unknown key, with what was meant", () => {
    const text = withStages("train: { command: x, neds: [] }");
    assert.deepEqual(said(text), [
      'warning unknown-key "neds" There is no key `neds` here, it does nothing. Did you mean `needs`?',
    ]);
    assert.deepEqual(stage(text, "train").unsupported, []);
    assert.match(only("session: s\nhosts: { h: {} }\nstage: {}\n").message, /`stages`/);
    const both = said(withStages("a: { command: x, log: { journal: x, docker: y } }")).join("\n");
    assert.match(both, /"docker" `docker` cannot stand beside/);
  });

  test("stands at the wrong value; the stage is kept without it and not launched", () => {
    for (const [key, value] of [
      ["gpus", "some"],
      ["gpus", "-1"],
      ["stalled_after", "5 parsecs"],
      ["kind", "cooking"],
      ["env", "3"],
      ["needs", "{ a: b }"],
      ["cwd", "[a]"],
      ["stop", "TERM"],
    ]) {
      const text = withStages(`a: { command: x, ${key ?? ""}: ${value ?? ""} }`, "b: { command: y }");
      const problem = only(text);
      assert.deepEqual([problem.severity, problem.code, problem.at], ["error", "schema", value], key);
      assert.match(problem.message, new RegExp(`^\`${key ?? ""}\` must be `));
      assert.deepEqual(stage(text, "a").unsupported, [`\`${key ?? ""}\` is wrong in the session file`]);
      assert.deepEqual(stage(text, "b").unsupported, []);
    }
  });

  test("takes only itself away: other stages are what they were", () => {
    const text = withStages("a: 3", "b: { command: y, needs: a }", "c: { command: z }");
    assert.deepEqual(said(text), [
      'error schema "3" `a` must be a map with `command` or `log`.',
      'error reference "a" `a` cannot be waited for: it is wrong in this file.',
    ]);
    assert.deepEqual(stage(text, "c").unsupported, []);
    assert.deepEqual(stage(text, "b").needs, []);
    assert.notDeepEqual(stage(text, "b").unsupported, []);
  });

  test("is a key without a value yet", () => {
    const problem = only(withStages("a:", "  command: x", "  env:"));
    assert.equal(problem.at, "env");
    assert.match(problem.message, /has no value/);
  });

  test("is a key that stands twice; the first counts and nothing is launched by it", () => {
    const text = withStages("a: { command: x, command: y }");
    assert.deepEqual([only(text).code, only(text).range.from], ["syntax", text.lastIndexOf("command")]);
    assert.equal(stage(text, "a").command, "x");
    assert.notDeepEqual(stage(text, "a").unsupported, []);
  });

  test("is a syntax error at its place; then nothing is launched", () => {
    const text = withStages("a: { command: x", "b: { command: y }");
    assert.ok(parseSessionFile(text).problems.some(({ code, severity }) => code === "syntax" && severity === "error"));
    const tab = withStages("a:", "\tcommand: x", "b: { command: y }");
    const problem = parseSessionFile(tab).problems.find(({ code }) => code === "syntax");
    assert.ok(problem);
    assert.ok(problem.range.from >= tab.indexOf("\t") - 1 && problem.range.from <= tab.indexOf("command"));
    for (const one of parseSessionFile(tab).definition?.stages.values() ?? []) assert.notDeepEqual(one.unsupported, []);
  });

  test("is a placeholder at the start of a value without quotes", () => {
    const text = `vars: { data: /d }\n${withStages("a: { command: x, cwd: {{data}} }")}`;
    assert.match(said(text).join("\n"), /needs quotes/);
    assert.match(said(`vars: { data: /d }\n${withStages("a:", "  cwd: {{data}}/x")}`).join("\n"), /needs quotes/);
  });

  test("is a reference to nothing", () => {
    const text = withStages("download: { command: x }", "b: { command: y, needs: [download, downlod] }");
    const problem = only(text);
    assert.deepEqual([problem.code, problem.at], ["reference", "downlod"]);
    assert.match(problem.message, /Did you mean `download`/);
    assert.deepEqual(stage(text, "b").needs, ["download"]);
    assert.equal(only("session: s\nhosts: { h: {} }\nstages: { a: { command: x, host: q } }\n").at, "q");
    assert.equal(only("session: s\nhosts: { h: {} }\ndefaults: { host: q }\n").at, "q");
  });

  test("is a missing host where there are several", () => {
    const text = "session: s\nhosts: { a: {}, b: {} }\nstages: { x: { command: y } }\n";
    assert.deepEqual([only(text).code, only(text).at], ["reference", "x"]);
    // One that is wrong is still a second one: the stage was perhaps meant for it.
    const broken = "session: s\nhosts: { a: {}, b: { ssh: -x } }\nstages: { x: { command: y } }\n";
    assert.equal(parseSessionFile(broken).definition?.stages.size, 0);
  });

  test("is a circle of needs, also with itself", () => {
    const text = withStages(
      "a: { command: x, needs: c }",
      "b: { command: x, needs: a }",
      "c: { command: x, needs: [b] }",
    );
    const problem = only(text);
    assert.equal(problem.code, "cycle");
    assert.match(problem.message, /a → c → b → a/);
    assert.equal(only(withStages("a: { command: x, needs: a }")).code, "cycle");
  });

  test("is a need on another host: a warning, nothing more", () => {
    const text =
      "session: s\nhosts: { a: {}, b: {} }\nstages:\n  x: { host: a, command: y }\n  z: { host: b, command: y, needs: x }\n";
    const { severity, at, message } = only(text);
    assert.deepEqual([severity, at], ["warning", "x"]);
    assert.match(message, /open window/);
    assert.deepEqual(stage(text, "z").unsupported, []);
  });

  test("is one name for a stage and a service", () => {
    assert.equal(only(`services: { a: { log: /x } }\n${withStages("a: { command: x }")}`).code, "reference");
  });

  test("is a progress pattern that cannot count", () => {
    for (const pattern of ["'('", "'\\d+'", "'(?<done>(a+)+)'"])
      assert.equal(only(withStages(`a: { command: x, progress: { pattern: ${pattern} } }`)).at, pattern);
  });

  test("is a size of nothing", () => {
    assert.equal(only(withStages("a: { command: x, done_when: { min_size: 5 GB } }")).at, "5 GB");
  });
});

describe("placeholders", () => {
  test("are filled from vars, which may use one another, and leave the shell's own alone", () => {
    const text = `vars: { root: /d, data: "{{root}}/x", n: 007, t: 250 }\n${withStages(
      'a: { command: "run {{ data }} $HOME ${X} {{.ID}} {{n}}", progress: { total: "{{t}}" } }',
    )}`;
    assert.deepEqual(said(text), []);
    assert.equal(stage(text, "a").command, "run /d/x $HOME ${X} {{.ID}} 007");
    assert.equal(stage(text, "a").progress?.total, 250);
  });

  test("that are unknown are errors at their place", () => {
    const text = `vars: { data: /d }\n${withStages("a: { command: x, log: '{{data}}/{{dta}}/{{data}}' }")}`;
    const problem = only(text);
    assert.deepEqual([problem.code, problem.at], ["placeholder", "{{dta}}"]);
    assert.match(problem.message, /Did you mean `{{data}}`/);
    assert.equal(stage(text, "a").log, undefined);
    assert.notDeepEqual(stage(text, "a").unsupported, []);
  });

  test("in a circle are refused, and long ones too", () => {
    const text = `vars: { a: "{{b}}", b: "{{a}}" }\n${withStages("a: { command: 'x {{a}}' }")}`;
    assert.ok(parseSessionFile(text).problems.some(({ code }) => code === "cycle"));
    assert.equal(stage(text, "a").command, undefined);
    const names = Array.from({ length: 12 }, (_, i) => `v${i}: "${`{{v${i + 1}}}`.repeat(10)}"`);
    const bomb = `vars:\n${names.map((line) => `  ${line}\n`).join("")}  v12: xxxxxxxxxx\n${withStages("a: { command: 'x {{v0}}' }")}`;
    assert.ok(parseSessionFile(bomb).problems.some(({ code }) => code === "unsafe"));
  });

  test("of a matrix are left for its members", () => {
    const text = withStages("a: { command: 'x {{shard}}', matrix: { shard: 0..7 } }");
    assert.deepEqual(said(text), []);
    assert.equal(stage(text, "a").command, "x {{shard}}");
  });
});

describe("hosts", () => {
  const address = (ssh: string): unknown =>
    parseSessionFile(`session: s\nhosts: { h: { ssh: ${JSON.stringify(ssh)} } }\n`).definition?.hosts.get("h")?.address;

  test("are written in every form", () => {
    assert.deepEqual(address("gpu8"), { kind: "alias", alias: "gpu8" });
    assert.deepEqual(address("gpu8.example.org"), { kind: "alias", alias: "gpu8.example.org" });
    assert.deepEqual(address("local"), { kind: "local" });
    assert.deepEqual(address("me@gpu8"), { kind: "direct", user: "me", host: "gpu8" });
    assert.deepEqual(address("gpu8:22"), { kind: "direct", host: "gpu8", port: 22 });
    assert.deepEqual(address("a@b@gpu8:22"), { kind: "direct", user: "a@b", host: "gpu8", port: 22 });
    assert.deepEqual(address("[::1]:2222"), { kind: "direct", host: "::1", port: 2222 });
    assert.deepEqual(address("me@[fe80::1%eth0]"), { kind: "direct", user: "me", host: "fe80::1%eth0" });
    assert.deepEqual(address("fe80::1"), { kind: "direct", host: "fe80::1" });
    const text = "session: s\nhosts: { gpu8: {} }\n";
    assert.deepEqual(parseSessionFile(text).definition?.hosts.get("gpu8")?.address, { kind: "alias", alias: "gpu8" });
  });

  test("cannot smuggle options, spaces or control characters", () => {
    for (const bad of ["-oProxyCommand=x", "me@-x", "-l@x", "a b", "a\nb", "a\u0000b", "a\u202eb", "x;y", "$(x)", ""]) {
      const text = `session: s\nhosts: { h: { ssh: ${JSON.stringify(bad)} } }\nstages: { a: { command: x } }\n`;
      const { definition, problems } = parseSessionFile(text);
      assert.equal(definition?.hosts.size, 0, bad);
      assert.ok(problems.some(({ severity }) => severity === "error"));
      assert.equal(definition.stages.size, 0);
    }
    for (const bad of ["gpu8:0", "gpu8:70000", "[::1", "a:b"]) assert.equal(address(bad), undefined, bad);
  });
});

describe("hostile files", () => {
  test("cannot name a way out of the state folder", () => {
    for (const name of ["..", ".", "a/b", "../x", "a b", "é", "x".repeat(65), "a\\nb", "__proto__"]) {
      const text = withStages(`"${name}": { command: x }`, "ok: { command: x }");
      const { code, severity } = only(text);
      assert.deepEqual([severity, code], ["error", "unsafe"], name);
      assert.deepEqual([...(parseSessionFile(text).definition?.stages.keys() ?? [])], ["ok"]);
      assert.equal(
        parseSessionFile(`session: "${name}"\nhosts: { h: {} }\n`).definition === undefined,
        name !== "__proto__",
      );
    }
    for (const name of ["constructor", "toString", "hasOwnProperty"]) {
      assert.deepEqual(said(withStages(`${name}: { command: x }`)), []);
      assert.match(said(withStages(`a: { command: x, needs: ${name} }`)).join(), /no stage or service/);
    }
  });

  test("cannot hide what will run", () => {
    for (const value of ['"a\\u0007b"', '"a\\e[2Kb"', '"a\\u202eb"', '"a\\0b"'])
      assert.deepEqual(only(withStages(`a: { log: /l, command: ${value} }`)).code, "unsafe", value);
    assert.equal(only(withStages('a: { command: x, cwd: "/a\\nb" }')).code, "unsafe");
    assert.equal(only(withStages('a: { command: x, env: { "A;B": c } }')).code, "unsafe");
  });

  test("do not blow up", () => {
    const laughs = ["a: &a [x, x, x, x, x, x, x, x, x]"];
    for (let i = 1; i < 10; i++)
      laughs.push(
        `${"abcdefghij".charAt(i)}: &${"abcdefghij".charAt(i)} [${Array(9)
          .fill(`*${"abcdefghij".charAt(i - 1)}`)
          .join(", ")}]`,
      );
    const texts = [
      laughs.join("\n"),
      "[".repeat(100_000),
      "{a: ".repeat(20_000),
      `session: ${"x".repeat(2_000_000)}`,
      "a: &a\n  b: *a\n",
      "a: &a { <<: *a }\n",
      "a: *nothing\n",
      "? [a, b]\n: c\n",
      "%YAML 9.9\n---\n!!binary x: !foo y\n",
      "session: s\n---\nsession: t\n",
      "\ufffd\ufffd: \ufffd\n",
      "\0\0\0",
      Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join("\n"),
    ];
    for (const text of texts) {
      const { problems } = parseSessionFile(text);
      assert.ok(problems.length > 0 && problems.length <= 200, text.slice(0, 30));
      for (const { range } of problems)
        assert.ok(range.from >= 0 && range.from <= range.to && range.to <= text.length, text.slice(0, 30));
    }
  });

  test("never throw, whatever is cut, doubled or put in", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      "\n",
      "  ",
      "\t",
      '"',
      "'",
      "*a",
      "&a ",
      "<<: ",
      "{{x}}",
      "|",
      "- ",
      "\u0000",
      "#",
      "!!",
      "null",
      "\ud800",
    );
    fc.assert(
      fc.property(
        fc.constantFrom(sketch, plain),
        fc.array(fc.tuple(fc.nat(2500), fc.nat(40), pieces), { maxLength: 5 }),
        fc.nat(2500),
        (base, edits, cut) => {
          let text = base.slice(0, cut % 5 === 0 ? cut : undefined);
          for (const [at, length, piece] of edits) text = text.slice(0, at) + piece + text.slice(at + length);
          const { definition, problems } = parseSessionFile(text);
          for (const { range } of problems)
            assert.ok(range.from >= 0 && range.from <= range.to && range.to <= text.length);
          for (const one of definition?.stages.values() ?? []) assert.ok(definition?.hosts.has(one.host));
        },
      ),
      { numRuns: 250 },
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        parseSessionFile(text);
      }),
      { numRuns: 200 },
    );
  });
});
