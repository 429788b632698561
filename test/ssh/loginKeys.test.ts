import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { loginKeys } from "../../src/ssh/keys";
import { Asker } from "../../src/ssh/prompts";
import { resolveHost, type ResolvedHost } from "../../src/ssh/sshConfig";
import { makeKey } from "./sshd";

const folder = mkdtempSync(join(tmpdir(), "login-keys-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function hostWith(keys: readonly string[], identityAgent?: string): Promise<ResolvedHost> {
  const sshConfigFile = join(folder, "config");
  writeFileSync(sshConfigFile, keys.map((key) => `IdentityFile ${key}\n`).join(""));
  const host = await resolveHost({ host: "gpu8" }, { env: { PATH: "" }, home: folder, user: "me", sshConfigFile });
  return { ...host, identityAgent };
}

const nobody = new Asker(undefined);
const file = (name: string, text: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe("key files", () => {
  it("of every kind that ssh-keygen makes are ready, or locked where they have a passphrase", async () => {
    const kinds = ["ed25519", "rsa", "ecdsa"];
    const paths = kinds.flatMap((kind) => {
      const open = join(folder, `${kind}_open`);
      const locked = join(folder, `${kind}_locked`);
      makeKey(open, "", kind);
      makeKey(locked, "pass phrase é", kind);
      return [open, locked];
    });
    const pem = join(folder, "pem");
    execFileSync("ssh-keygen", ["-q", "-t", "rsa", "-m", "PEM", "-N", "old words", "-f", pem]);
    const { ready, locked, notes, beyond } = await loginKeys(await hostWith([...paths, pem]), nobody);
    assert.deepEqual(
      ready.map((key) => key.label),
      kinds.map((kind) => join(folder, `${kind}_open`)),
    );
    assert.deepEqual(
      locked.map((key) => key.label),
      [...kinds.map((kind) => join(folder, `${kind}_locked`)), pem],
    );
    assert.ok(locked.every((key) => key.unlock("wrong") === undefined));
    for (const key of locked) assert.ok(key.unlock(key.label === pem ? "old words" : "pass phrase é"), key.label);
    assert.deepEqual([notes, beyond], [[], []]);
  });

  it("of PuTTY are passed over, with the command that converts them", async () => {
    const ppk = file("putty.ppk", "PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\nComment: x\r\n");
    const { ready, notes } = await loginKeys(await hostWith([ppk]), nobody);
    assert.deepEqual(ready, []);
    assert.match(notes.join(), /putty\.ppk: a key of PuTTY; convert it with {2}puttygen .* -O private-openssh/);
  });

  it("that are security keys are told by the public part beside them, and by their own", async () => {
    const type = "sk-ssh-ed25519@openssh.com";
    file("beside.pub", `${type} AAAA\n`);
    const body = Buffer.from(`openssh-key-v1\0....${type}....`).toString("base64");
    const own = file("own", `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`);
    const { beyond, notes } = await loginKeys(await hostWith([join(folder, "beside"), own]), nobody);
    assert.deepEqual(beyond, [join(folder, "beside"), own]);
    assert.deepEqual(notes, []);
  });

  it("that are none are passed over with the reason, and never fail the login", async () => {
    const real = join(folder, "for_ugly");
    makeKey(real);
    const text = readFileSync(real, "latin1");
    const ugly = [
      "",
      "\0\0\0",
      "-----BEGIN OPENSSH PRIVATE KEY-----\n",
      "-----BEGIN OPENSSH PRIVATE KEY-----\n%%%\n-----END OPENSSH PRIVATE KEY-----\n",
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: NONSENSE,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
      text.slice(0, 200),
      text.replaceAll("\n", "\r\n"),
      `${text}${text}`,
      text.replace("b3BlbnNzaC", "AAAAAAAAAA"),
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI\n",
      "x".repeat(100_000),
      "<html><body>404</body></html>",
    ].map((body, index) => file(`ugly${index}`, Buffer.from(body, "latin1")));
    const { ready, locked } = await loginKeys(await hostWith([...ugly, folder, "/nonexistent", real]), nobody);
    assert.equal(ready.at(-1)?.label, real);
    assert.ok(locked.every((key) => key.unlock("x") === undefined));
  });
});

describe("an agent", () => {
  it("of PuTTY is said not to be supported, with what is", async () => {
    const { ready, notes } = await loginKeys(await hostWith([], "pageant"), nobody);
    assert.deepEqual(ready, []);
    assert.match(notes.join(), /Pageant is not supported; the agent service of OpenSSH for Windows is/);
  });

  it("that is not there, or talks nonsense, is a note and no failure", async () => {
    const socket = join(folder, "nonsense");
    const server = createServer((link) => link.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const real = join(folder, "beside_agent");
    makeKey(real);
    try {
      for (const agent of [socket, join(folder, "nowhere")]) {
        const { ready, notes } = await loginKeys(await hostWith([real], agent), nobody);
        assert.equal(ready.length, 1);
        assert.match(notes.join(), /did not answer/);
      }
    } finally {
      server.close();
    }
  });
});
