import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import fc from "fast-check";
import { commandWords } from "../../src/core/session/commandWords";
import { replaceProgram, stageAt } from "../../src/core/session/sessionEdit";
import { parseSessionFile } from "../../src/core/session/sessionFile";

function file(command: string): string {
  return `# top\nsession: s\nhosts: { h: { ssh: h } } # host\nvars: { bin: hf, data: /d }\nstages:\n  a:   # first\n    command: ${command}\n    log: /l   # hf\n  b: { command: hf download y }\n`;
}

/** The new `command` line (or lines) of stage `a`. */
function edited(command: string, to = "/x/hf", from = "hf"): string | undefined {
  const before = file(command);
  const after = replaceProgram(before, "a", from, to);
  if (after === undefined) return undefined;
  const start = before.indexOf(`command: ${command}`) + 9;
  const tail = before.length - start - command.length;
  assert.equal(after.slice(0, start), before.slice(0, start));
  assert.equal(after.slice(after.length - tail), before.slice(before.length - tail));
  return after.slice(start, after.length - tail);
}

describe("replacing a program", () => {
  test("changes the word and nothing else, in every way to write it", () => {
    const cases: [string, string][] = [
      [
        "hf download hf/hf --local-dir {{data}}/hf  # hf here",
        "/x/hf download hf/hf --local-dir {{data}}/hf  # hf here",
      ],
      ['"hf download \\"hf\\""', '"/x/hf download \\"hf\\""'],
      ["'hf download ''hf'''", "'/x/hf download ''hf'''"],
      [
        "|\n      # hf first\n      hf download x \\\n        --y",
        "|\n      # hf first\n      /x/hf download x \\\n        --y",
      ],
      [">-\n      hf download\n      x", ">-\n      /x/hf download\n      x"],
      ["nohup hf download x", "nohup /x/hf download x"],
      ["env A=hf -u hf HF=1 hf x", "env A=hf -u hf HF=1 /x/hf x"],
      ["A=hf B=2 exec hf x", "A=hf B=2 exec /x/hf x"],
      ["time -p nice -n 5 timeout -k 5 1h hf x", "time -p nice -n 5 timeout -k 5 1h /x/hf x"],
      ["cd hf && hf x", "cd hf && /x/hf x"],
      ["echo hf; hf x | tee hf", "echo hf; /x/hf x | tee hf"],
      ["echo hf | hf x", "echo hf | /x/hf x"],
      ["(hf x) > hf 2>&1 &", "(/x/hf x) > hf 2>&1 &"],
      ["X=1 >hf hf x", "X=1 >hf /x/hf x"],
      ["if true; then hf x; fi", "if true; then /x/hf x; fi"],
      ["for i in hf 2; do hf x; done", "for i in hf 2; do /x/hf x; done"],
      ["echo $(hf a; hf b) hf; hf c", "echo $(hf a; hf b) hf; /x/hf c"],
      ["hfx; 'hf' x", "hfx; /x/hf x"],
      ["hf", "/x/hf"],
      // Logs name a tool without its folder; the bare name is looked for first.
      ["/old/hf a", "/x/hf a"],
      ["/old/hf a; hf b", "/old/hf a; /x/hf b"],
    ];
    for (const [before, after] of cases) assert.equal(edited(before), after, before);
  });

  test("quotes paths for the shell and for YAML", () => {
    assert.equal(edited("run; hf x", "/my env/hf"), "run; '/my env/hf' x");
    assert.equal(edited("hf x", "/my env/hf"), "/my\\ env/hf x");
    assert.equal(edited('"hf x"', "/my env/it's"), "\"'/my env/it'\\\\''s' x\"");
    assert.equal(edited("'hf x'", "/my env/hf"), "'''/my env/hf'' x'");
    assert.equal(edited("|\n      hf x", "/a $(b)/hf"), "|\n      '/a $(b)/hf' x");
  });

  test("is not done where it cannot be done surely", () => {
    for (const command of [
      "'{{bin}} download'",
      "echo hf",
      "echo $(hf x)",
      "hf-x",
      "cat <<E\n      hf\n      E",
      "case hf in hf) hf;; esac",
      "$hf x",
    ])
      assert.equal(edited(command), undefined, command);
    for (const to of ["", "-x", "a\nb", "{{data}}/hf", "a\u0000"]) assert.equal(edited("hf x", to), undefined, to);
    assert.equal(replaceProgram(file("hf x"), "nobody", "hf", "/x"), undefined);
    assert.equal(replaceProgram("[", "a", "hf", "/x"), undefined);
    // Both stages share the command: an edit of one would change the other.
    const shared =
      "session: s\nhosts: { h: {} }\nstages:\n  a: &a { command: hf x }\n  b: { <<: *a }\n  c: { <<: *a, command: hf z }\n";
    assert.equal(replaceProgram(shared, "a", "hf", "/x/hf"), undefined);
    assert.equal(replaceProgram(shared, "b", "hf", "/x/hf"), undefined);
    assert.match(replaceProgram(shared, "c", "hf", "/x/hf") ?? "", /command: \/x\/hf z/);
  });

  test("keeps CRLF and works on the files of the fixtures", () => {
    const plain = readFileSync("test/fixtures/session/plain.yaml", "utf8").replaceAll("\n", "\r\n");
    const after = replaceProgram(plain, "train", "torchrun", "/root/my env/bin/torchrun");
    assert.equal(after, plain.replace("torchrun", "'/root/my env/bin/torchrun'"));
    const sketch = readFileSync("test/fixtures/session/sketch.yaml", "utf8");
    assert.equal(replaceProgram(sketch, "download", "hf", "/v/hf"), sketch.replace("hf download", "/v/hf download"));
  });

  test("means the same as before but for the program, whatever the words", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "hf",
        "a",
        "&&",
        "|",
        ";",
        "env",
        "X=1",
        "nohup",
        "'",
        '"',
        ">",
        "#",
        "$(",
        ")",
        "{{data}}",
        "\\",
      ),
      fc.string({ maxLength: 4 }),
    );
    const style = fc.constantFrom<(command: string) => string>(
      (command) => JSON.stringify(command),
      (command) => `'${command.replaceAll("'", "''")}'`,
      (command) => command,
      (command) => `|\n      ${command}`,
    );
    const path = fc.oneof(
      fc.constantFrom("/x/hf", "/my dir/hf", "/a'b/hf", '/a"b', "/a#b: c", "~/hf"),
      fc.string({ maxLength: 6 }),
    );
    let done = 0;
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), style, path, (others, write, to) => {
        const text = file(write([...others, "hf", "x"].join(" ")));
        const after = replaceProgram(text, "a", "hf", to);
        if (after === undefined) return;
        done++;
        const [before, now] = [text, after].map(
          (one) => parseSessionFile(one).definition?.stages.get("a")?.command ?? "",
        );
        const first = commandWords(before ?? "").findIndex(({ value }) => value === "hf");
        assert.deepEqual(
          commandWords(now ?? "").map(({ value }) => value),
          commandWords(before ?? "").map(({ value }, i) => (i === first ? to : value)),
        );
      }),
      { numRuns: 600 },
    );
    assert.ok(done > 20, `only ${done} edits were tried`);
  });
});

test("stageAt tells which stage an offset belongs to", () => {
  const text = file("hf x");
  const { definition } = parseSessionFile(text);
  assert.ok(definition);
  assert.equal(stageAt(definition, 0), undefined);
  assert.equal(stageAt(definition, text.indexOf("a:   #"))?.name, "a");
  assert.equal(stageAt(definition, text.indexOf("log:"))?.name, "a");
  assert.equal(stageAt(definition, text.length)?.name, "b");
});
