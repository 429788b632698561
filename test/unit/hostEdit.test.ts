import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { addToHost } from "../../src/core/session/hostEdit";
import { parseSessionFile } from "../../src/core/session/sessionFile";

function file(host: string): string {
  return `# top\nsession: s\nhosts:\n  a: { ssh: a } # first\n  h:${host}\nstages:\n  x: { host: h, command: hf x } # last\n`;
}

/** The host's part of the file after the edit. */
function edited(host: string, key: "path" | "setup", value: string): string | undefined {
  const after = addToHost(file(host), "h", key, value);
  if (after === undefined) return undefined;
  const [head = "", tail = ""] = file("@").split("@");
  assert.ok(after.startsWith(head) && after.endsWith(tail), after);
  return after.slice(head.length, after.length - tail.length);
}

describe("adding to a host", () => {
  test("a folder goes before the others, in every way to write them", () => {
    const cases: [string, string][] = [
      [" { ssh: h } # two", " { path: [/v/bin], ssh: h } # two"],
      [" {}", " { path: [/v/bin] }"],
      ["\n    ssh: h # alias\n    # end", "\n    path: [/v/bin]\n    ssh: h # alias\n    # end"],
      ["\n    ssh: h\n    path: /a", "\n    ssh: h\n    path: [/v/bin, /a]"],
      ["\n    path: '/a b' # why", "\n    path: [/v/bin, '/a b'] # why"],
      ["\n    path: /a, b", '\n    path: [/v/bin, "/a, b"]'],
      ["\n    path: [/a, /b] # why", "\n    path: [/v/bin, /a, /b] # why"],
      ["\n    path: []", "\n    path: [/v/bin]"],
      [
        "\n    path:\n      # mine\n      - /a\n      - /b",
        "\n    path:\n      # mine\n      - /v/bin\n      - /a\n      - /b",
      ],
      ["\n    path:\n    - /a\n    ssh: h", "\n    path:\n    - /v/bin\n    - /a\n    ssh: h"],
      ["\n    path: /v/bin", "\n    path: /v/bin"],
    ];
    for (const [before, after] of cases) assert.equal(edited(before, "path", "/v/bin"), after, before);
  });

  test("a line of setup goes behind the others", () => {
    const line = "source '/my env/bin/activate'";
    const cases: [string, string][] = [
      [" { ssh: h }", ` { setup: ["${line}"], ssh: h }`],
      ["\n    setup: module load cuda", `\n    setup: [module load cuda, "${line}"]`],
      ["\n    setup: [a, 'b c']", `\n    setup: [a, 'b c', "${line}"]`],
      ["\n    setup:\n      - a # one\n    ssh: h", `\n    setup:\n      - a # one\n      - "${line}"\n    ssh: h`],
    ];
    for (const [before, after] of cases) assert.equal(edited(before, "setup", line), after, before);
  });

  test("is not done where it cannot be done surely", () => {
    assert.equal(edited(" { ssh: h }", "path", "{{data}}/bin"), undefined);
    assert.equal(edited(" { ssh: h }", "path", "a\nb"), undefined);
    assert.equal(addToHost(file(" {}"), "nobody", "path", "/x"), undefined);
    assert.equal(addToHost("[", "h", "path", "/x"), undefined);
    const shared = "session: s\nhosts:\n  a: &a { ssh: a }\n  h: *a\nstages:\n  x: { host: h, command: y }\n";
    assert.equal(addToHost(shared, "h", "path", "/x"), undefined);
    assert.equal(addToHost(shared, "a", "path", "/x"), undefined);
  });

  test("keeps CRLF, and reads as meant whatever the folder is called", () => {
    const text = file("\n    ssh: h\n    path:\n      - /a").replaceAll("\n", "\r\n");
    assert.equal(addToHost(text, "h", "path", "/v"), text.replace("- /a", "- /v\r\n      - /a"));
    fc.assert(
      fc.property(
        fc.constantFrom(" { ssh: h }", "\n    path: /a", "\n    path:\n      - /a", "\n    path: [/a]"),
        fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("~", "true", "~/x", "#a", "a: b", "[x]", "/é 'x'", '"')),
        (host, folder) => {
          const after = addToHost(file(host), "h", "path", folder);
          if (after !== undefined) assert.equal(parseSessionFile(after).definition?.hosts.get("h")?.path[0], folder);
        },
      ),
    );
  });
});
