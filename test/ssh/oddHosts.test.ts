import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isConnectError } from "../../src/core/errors";
import type { HostOps } from "../../src/core/ports";
import { createConnector, type SshClient } from "../../src/ssh/connector";
import { hostAt, optionsFor, run } from "./connection";
import { has } from "./hostHarness";
import { cleanUpAfterEach, configured, connect, later, sshd } from "./sshHost";
import type { Sshd } from "./sshd";

cleanUpAfterEach();

const clients = ["built-in", "system"] as const;

/** As the extension connects: the transport, and one look at what the host has. */
async function opened(server: Sshd, sshClient: SshClient): Promise<HostOps> {
  const connector = createConnector(optionsFor(server.folder, { sshConfigFile: configured(server), sshClient }));
  const host = { ...hostAt({ kind: "alias", alias: "box" }), stateDir: join(server.folder, "state") };
  const ops = await connector.connect(host, false, new AbortController().signal);
  later(() => {
    ops.dispose();
  });
  return ops;
}

async function saysOf(server: Sshd, sshClient: SshClient): Promise<string> {
  const error: unknown = await opened(server, sshClient).catch((reason: unknown) => reason);
  assert.ok(isConnectError(error), String(error));
  assert.equal(error.reason, "no-shell");
  return error.message;
}

function program(server: Sshd, name: string, text: string): string {
  const path = join(server.folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describe("odd hosts over a real sshd without sftp", { timeout: 600_000 }, () => {
  for (const shell of ["fish", "tcsh", "zsh", "dash", "bash"]) {
    const skip = has(shell) ? false : `${shell} is not on this machine`;
    it(`a login shell that is ${shell}, with start-up files that print`, { skip }, async () => {
      const server = await sshd({ loginShell: `/usr/bin/${shell}` });
      const greeting = `echo "Welcome to the lab"; echo "@ uid 77"; echo noise >&2\n`;
      mkdirSync(join(server.folder, ".config", "fish"), { recursive: true });
      for (const name of [".config/fish/config.fish", ".zshenv", ".bashrc"])
        writeFileSync(join(server.folder, name), greeting);
      writeFileSync(join(server.folder, ".tcshrc"), 'echo "Welcome to the lab"\necho "@ uid 77"\n');
      for (const client of clients) {
        const ops = await opened(server, client);
        assert.equal(ops.identity.uid, process.getuid?.());
        assert.equal(ops.identity.home, server.folder);
        assert.deepEqual(await ops.records("night"), []);
      }
    });
  }

  it("a forced command that runs none of ours: what it prints is passed on", async () => {
    const server = await sshd({ config: ["ForceCommand echo 'This account is for backups only.'"] });
    for (const client of clients) assert.match(await saysOf(server, client), /for backups only/);
  });

  it("a forced command that waits for something else", async () => {
    const server = await sshd({ config: ['ForceCommand read line; echo "unknown request $line" | cut -c1-60'] });
    for (const client of clients) assert.match(await saysOf(server, client), /unknown request/);
  });

  it("a server for files alone", async () => {
    const server = await sshd({ config: ["ForceCommand internal-sftp"] });
    for (const client of clients) await saysOf(server, client);
  });

  it("an account without a shell", async () => {
    const server = await sshd({ loginShell: "/bin/false" });
    for (const client of clients) await saysOf(server, client);
  });

  it("a login shell that prints without end", async () => {
    const server = await sshd();
    const shell = program(server, "flood", "#!/bin/sh\nexec yes 'no shell here'\n");
    const other = await sshd({ loginShell: shell });
    for (const client of clients) assert.match(await saysOf(other, client), /without end|no shell here/);
  });

  it("a host of busybox alone, whose tail is not GNU's", async () => {
    if (!has("busybox")) return;
    const place = await sshd();
    const bin = join(place.folder, "bin");
    mkdirSync(bin);
    const applets = [
      "sh",
      "cat",
      "dd",
      "tail",
      "stat",
      "mkdir",
      "rm",
      "ls",
      "sleep",
      "id",
      "uname",
      "hostname",
      "date",
    ];
    applets.push(
      "head",
      "cut",
      "tr",
      "wc",
      "ps",
      "cksum",
      "kill",
      "env",
      "mkfifo",
      "mv",
      "printf",
      "test",
      "sed",
      "awk",
    );
    applets.push(
      "grep",
      "sort",
      "chmod",
      "od",
      "find",
      "df",
      "setsid",
      "touch",
      "expr",
      "readlink",
      "basename",
      "dirname",
    );
    for (const applet of applets) symlinkSync("/usr/bin/busybox", join(bin, applet));
    const server = await sshd({
      config: [
        `SetEnv HOME=${place.folder} PATH=${bin} SHELL=/bin/sh`,
        `ForceCommand exec ${bin}/sh -c "$SSH_ORIGINAL_COMMAND"`,
      ],
    });
    for (const client of clients) {
      const ops = await opened(server, client);
      assert.equal(ops.identity.has.has("gnu-tail"), false);
      assert.equal(ops.identity.has.has("bash"), false);
      assert.deepEqual(await ops.records("night"), []);
    }
  });
});

for (const sshClient of clients) {
  describe(`streams of a command (${sshClient})`, { timeout: 300_000 }, () => {
    it("one that is not read to its end does not hold up the other", async () => {
      const server = await sshd();
      const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server), sshClient }));
      const channel = await transport.open("seq 1 1200000 >&2; echo through");
      // One look at the errors is enough for this reader.
      for await (const chunk of channel.stderr) {
        assert.ok(chunk.length > 0);
        break;
      }
      let out = "";
      for await (const chunk of channel.stdout) out += Buffer.from(chunk).toString("utf8");
      assert.equal(out, "through\n");
    });

    it("carry 8 MB each way, through the server's renewals of the session keys", async () => {
      const server = await sshd({ config: ["RekeyLimit 1M 30"] });
      const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server), sshClient }));
      const { stdout, exit } = await run(await transport.open("seq 1 1200000"));
      assert.deepEqual(exit, { kind: "code", code: 0 });
      assert.equal(stdout.length, 8_488_896);
      const back = await transport.open("cksum");
      const answer = run(back);
      for (let at = 0; at < stdout.length; at += 100_000) await back.write(stdout.slice(at, at + 100_000));
      back.end();
      assert.match((await answer).stdout, / 8488896\n$/);
    });
  });
}
