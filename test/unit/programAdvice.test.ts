import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProgramPlaces } from "../../src/core/programSearch";
import { programAdvice, shellWords } from "../../src/core/session/programAdvice";

const places: ProgramPlaces = {
  loginShell: "/bin/bash",
  shells: [
    { kind: "ssh", late: false, path: ["/bin"] },
    { kind: "login", late: false, path: ["/v env/bin", "/bin"], found: "/v env/bin/hf" },
    { kind: "interactive", late: true },
  ],
  tools: [
    { name: "hf", path: "/stub/hf", onPath: false, works: false, says: "renamed" },
    { name: "hf", path: "/v env/bin/hf", onPath: false, works: true, says: "" },
  ],
  startup: [{ folder: "/v env/bin", file: "/root/.profile", line: 7 }],
  activated: ["/v env/bin"],
};

test("what shells make of a program", () => {
  assert.deepEqual(
    shellWords(places, "hf").map(({ name, says, finds }) => `${name}: ${says}: ${String(finds)}`),
    [
      "command over SSH: does not find hf: false",
      "login shell: /v env/bin/hf: true",
      "interactive shell: its start-up takes longer than 5 s: false",
    ],
  );
});

test("working places come first, with the edits that make a launch find them", () => {
  const [first, second] = programAdvice(places, "hf", "hf download x");
  assert.equal(first?.says, "works; not on the PATH of a launch; seen by the login shell; /root/.profile:7 names it");
  assert.deepEqual(
    first.offers.map((offer) =>
      offer.kind === "command" ? offer.cure.replacement : offer.kind === "path" ? offer.folder : offer.line,
    ),
    ["/v env/bin/hf", "/v env/bin", ". '/v env/bin/activate'"],
  );
  assert.equal(second?.path, "/stub/hf");
  assert.deepEqual(second.offers, []);
  // A successor under another name is no help on PATH; a command without the word cannot be changed.
  const renamed = programAdvice(places, "huggingface-cli", "huggingface-cli download x")[0]?.offers;
  assert.deepEqual(
    renamed?.map(({ kind }) => kind),
    ["command"],
  );
  assert.deepEqual(
    programAdvice(places, "hf", "python x.py")[0]?.offers.map(({ kind }) => kind),
    ["path", "setup"],
  );
});
