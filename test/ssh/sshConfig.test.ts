import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isConnectError } from "../../src/core/errors";
import { resolveHost, type HostRequest } from "../../src/ssh/sshConfig";

const folder = mkdtempSync(join(tmpdir(), "ssh-config-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
const withSsh = { PATH: process.env["PATH"], SSH_AUTH_SOCK: "/tmp/agent.sock", OTHER_SOCK: "/tmp/other.sock" };
const withoutSsh = { ...withSsh, PATH: folder };

function resolve(config: string, request: HostRequest, env: Readonly<Record<string, string | undefined>> = withSsh) {
  const sshConfigFile = join(folder, `config${count++}`);
  writeFileSync(sshConfigFile, config);
  return resolveHost(request, { env, home: "/home/me", user: "me", sshConfigFile });
}

const config = `
Host gpu8
  HostName 10.0.0.5
  Port 2222
  User trainer
  IdentityFile ~/.ssh/lab
  IdentityFile /keys/%r@%h:%p
  IdentitiesOnly yes
  IdentityAgent $OTHER_SOCK
  UserKnownHostsFile /lab/known /dev/null
  StrictHostKeyChecking accept-new
  HostKeyAlias lab
  ProxyJump gate
Host *
  IdentityAgent none
`;

for (const [name, env] of [
  ["ssh -G", withSsh],
  ["the package, where there is no ssh", withoutSsh],
] as const) {
  describe(`SSH configuration by ${name}`, () => {
    it("gives all that a connection needs", async () => {
      const host = await resolve(config, { host: "gpu8" }, env);
      assert.equal(host.hostname, "10.0.0.5");
      assert.equal(host.port, 2222);
      assert.equal(host.user, "trainer");
      assert.deepEqual(host.identityFiles, ["/home/me/.ssh/lab", "/keys/trainer@10.0.0.5:2222"]);
      assert.equal(host.identitiesOnly, true);
      assert.equal(host.identityAgent, "/tmp/other.sock");
      assert.deepEqual(host.userKnownHosts, ["/lab/known"]);
      assert.equal(host.strictHostKeyChecking, "accept-new");
      assert.equal(host.hostKeyAlias, "lab");
      assert.equal(host.proxyJump, "gate");
      assert.equal(host.proxyCommand, undefined);
    });

    it("lets what was asked for win over the configuration", async () => {
      const host = await resolve(config, { host: "gpu8", user: "root", port: 22 }, env);
      assert.deepEqual([host.user, host.port], ["root", 22]);
    });

    it("has OpenSSH's defaults where nothing is said", async () => {
      const host = await resolve("", { host: "other" }, env);
      assert.deepEqual([host.hostname, host.port, host.strictHostKeyChecking], ["other", 22, "ask"]);
      assert.equal(host.identityAgent, "/tmp/agent.sock");
      assert.ok(host.identityFiles.includes("/home/me/.ssh/id_ed25519"));
      assert.equal(host.identitiesOnly, false);
      assert.equal(host.proxyJump, undefined);
      assert.ok(host.globalKnownHosts.includes("/etc/ssh/ssh_known_hosts"));
    });

    it("uses no agent where the configuration says none", async () => {
      assert.equal((await resolve(config, { host: "other" }, env)).identityAgent, undefined);
    });

    it("refuses names that ssh or a shell could take for something else", async () => {
      for (const host of ["-oProxyCommand=touch x", "a b", "a\nb", "", "$(touch x)", "a;b", "`x`", "a'b"]) {
        await assert.rejects(
          resolve("", { host }, env),
          (error) => isConnectError(error) && error.reason === "unsupported",
        );
      }
      await assert.rejects(resolve("", { host: "a", user: "-x" }, env), isConnectError);
    });

    it("takes the names that exist", async () => {
      for (const host of ["gpu8", "node_1.lab", "10.0.0.5", "::1", "fe80::1%eth0", "größe"]) {
        assert.equal((await resolve("", { host }, env)).alias, host);
      }
    });

    it("reads yes and no as OpenSSH prints them, and fills in the ProxyCommand", async () => {
      const strict = await resolve("Host *\nStrictHostKeyChecking yes\nProxyCommand nc %h %p", { host: "a" }, env);
      assert.equal(strict.strictHostKeyChecking, "yes");
      assert.equal(strict.proxyCommand, "nc a 22");
      assert.equal((await resolve("Host *\nStrictHostKeyChecking no", { host: "a" }, env)).strictHostKeyChecking, "no");
    });
  });
}

it("says what ssh says of a configuration it cannot read", async () => {
  await assert.rejects(
    resolve("NoSuchKeyword 1", { host: "gpu8" }),
    (error) =>
      isConnectError(error) && error.reason === "unsupported" && /NoSuchKeyword|nosuchkeyword/.test(error.message),
  );
});
