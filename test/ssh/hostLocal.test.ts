import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isConnectError } from "../../src/core/errors";
import { hostDefaults } from "../../src/core/session/defaults";
import type { HostDefinition } from "../../src/core/session/definition";
import { cksum } from "../../src/ssh/cksum";
import { openHost } from "../../src/ssh/hostOps";
import { createLocalTransport } from "../../src/ssh/localTransport";
import { has, makeTestHost, realClock } from "./hostHarness";
import { launched } from "./hostRunBodies";
import { makeLocal } from "./localHost";

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const definition: HostDefinition = {
  name: "here",
  address: { kind: "local" },
  ...hostDefaults,
  stateDir: "~/state",
};

describe("this machine as a host", () => {
  it("runs nothing in a workspace that is not trusted", async () => {
    const transport = createLocalTransport(() => false);
    await assert.rejects(transport.open("true"), (error) => isConnectError(error) && error.reason === "untrusted");
    await assert.rejects(
      openHost(transport, definition, { clock: realClock, logger: quiet }),
      (error) => isConnectError(error) && error.reason === "untrusted",
    );
  });

  for (const shell of ["bash", "dash", "zsh", "fish", "tcsh"]) {
    const skip = has(shell) ? false : `${shell} is not on this machine`;
    it(`works for a login shell that is ${shell}`, { skip }, async () => {
      const path = execFileSync("sh", ["-c", `command -v ${shell}`], { encoding: "utf8" }).trim();
      const host = await makeTestHost("/usr/bin/dash", makeLocal(path));
      try {
        const record = launched(await host.ops.launch(host.request({ command: "echo 'it''s' \"$HOME\"; exit 4" })));
        assert.deepEqual(record.end?.exit, { kind: "code", code: 4 });
      } finally {
        host.dispose();
      }
    });
  }

  it("passes over what start-up files print, and says what a login that is no shell prints", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mls-login-"));
    const shell = (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, `#!/bin/sh\n${text}\n`);
      chmodSync(path, 0o755);
      return path;
    };
    try {
      const chatty = shell("chatty", 'printf "Welcome\\n@ uid 77\\n"; echo noise >&2; exec sh "$@"');
      const host = await makeTestHost("/usr/bin/dash", makeLocal(chatty));
      assert.equal(host.ops.identity.uid, process.getuid?.());
      launched(await host.ops.launch(host.request()));
      host.dispose();
      const menu = shell("menu", "echo 'This account is for file transfers only.'; exit 1");
      await assert.rejects(
        makeTestHost("/usr/bin/dash", makeLocal(menu)),
        (error) =>
          isConnectError(error) && error.reason === "no-shell" && error.message.includes("file transfers only"),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("computes cksum as the host does", () => {
    for (const text of ["", "a", "x".repeat(64), "123456789"]) {
      assert.equal(cksum(Buffer.from(text)), execFileSync("cksum", { input: text, encoding: "utf8" }).trim());
    }
  });
});
