import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { isConnectError } from "../../src/core/errors";
import { readConfigFile } from "../../src/ssh/configFile";
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

describe("Include", () => {
  const parts = join(folder, "parts");
  mkdirSync(join(parts, "deep"), { recursive: true });
  const part = (name: string, text: string): string => {
    writeFileSync(join(parts, name), text);
    return join(parts, name);
  };
  part("10-first", "Host gpu8\n  Port 1001\n  IdentityFile /keys/first\n");
  part("20-second", "Host *\n  Port 1002\n  User second\nHost other\n  HostKeyAlias from-second\n");
  part("30 blanks", "Host gpu*\n  HostKeyAlias from-blanks\n");
  part(".hidden", "Host *\n  HostKeyAlias hidden\n");
  part("deep/inner", "User inner\nHost gpu9\n  Port 1009\n");
  part("outer", `Include ${join(parts, "deep", "*")}\nPort 1100\n`);

  const configs: Readonly<Record<string, string>> = {
    "a glob, in lexical order": `Include ${parts}/[12]0-*\nHost *\n  User last\n`,
    "several names, one of them quoted": `Include ${parts}/20-second "${parts}/30 blanks"\n`,
    "one that is not there": `Include ${parts}/nothing ${parts}/none*\nHost gpu8\n  Port 7\n`,
    "inside a block that is for the host": `Host gpu8\n  Include ${parts}/10-first\n  User inside\nHost *\n  Port 5\n`,
    "inside a block that is not": `Host elsewhere\n  Include ${parts}/20-second\nHost gpu8\n  Port 6\n`,
    "before any block, which stays none": `Include ${parts}/10-first\nPort 9\nUser plain\n`,
    "one that includes another": `Include ${parts}/outer\nUser late\n`,
    "in other letters and with =": `INCLUDE=${parts}/10-first\ninclude ${parts}/20-second\n`,
    "hidden files are passed over": `Include ${parts}/*hidden\nHost gpu8\n  HostKeyAlias shown\n`,
    "after a Match": `Match host gpu8\n  Include ${parts}/10-first\nMatch host gpu9\n  Include ${parts}/20-second\n`,
    "a negated block": `Host * !gpu8\n  Include ${parts}/20-second\nHost *\n  User negated\n`,
    "a question mark": `Include ${parts}/?0-first\n`,
  };
  for (const [name, config] of Object.entries(configs)) {
    it(`is followed without ssh as ssh follows it: ${name}`, async () => {
      for (const host of ["gpu8", "gpu9", "other"]) {
        const [asked, read] = await Promise.all([withSsh, withoutSsh].map((env) => resolve(config, { host }, env)));
        for (const key of ["port", "user", "hostKeyAlias", "hostname"] as const)
          // ssh itself takes the one who runs it where no user is named.
          assert.equal(read?.[key], asked?.[key] === userInfo().username ? "me" : asked?.[key], `${key} of ${host}`);
      }
    });
  }

  it("is read below ~/.ssh where the name is not absolute", async () => {
    const home = join(folder, "home");
    mkdirSync(join(home, ".ssh", "conf.d"), { recursive: true });
    writeFileSync(join(home, ".ssh", "conf.d", "a.conf"), "Host gpu8\n  Port 2000\n");
    writeFileSync(join(home, ".ssh", "b.conf"), "Host gpu8\n  User b\n");
    writeFileSync(join(home, ".ssh", "config"), "Include conf.d/*.conf ~/.ssh/b.conf\n");
    const host = await resolveHost({ host: "gpu8" }, { env: withoutSsh, home, user: "me" });
    assert.deepEqual([host.port, host.user], [2000, "b"]);
  });

  it("ends in words where files include each other, where there are too many or one is too large", async () => {
    const loop = part("loop", "");
    writeFileSync(loop, `Include ${loop}\n`);
    await assert.rejects(resolve(`Include ${loop}\n`, { host: "a" }, withoutSsh), /16 deep/);
    const many = join(folder, "many");
    mkdirSync(many);
    for (let i = 0; i < 260; i++) writeFileSync(join(many, `${i}`), "");
    await assert.rejects(resolve(`Include ${many}/*\n`, { host: "a" }, withoutSsh), /256 files/);
    const large = part("large", "x".repeat((1 << 20) + 1));
    await assert.rejects(resolve(`Include ${large}\n`, { host: "a" }, withoutSsh), /larger than/);
  });

  it("does not wait for what is no file, and runs nothing", async () => {
    const made = join(folder, "made");
    symlinkSync("/dev/zero", join(parts, "device"));
    const config = `Include ${parts}/device ${parts}\nMatch exec "touch ${made}"\n  Include ${parts}/10-first\nHost *\n  Port 3\n`;
    assert.equal((await resolve(config, { host: "gpu8" }, withoutSsh)).port, 3);
    assert.throws(() => {
      rmSync(made);
    });
  });

  it("takes any text for a configuration, or says that it cannot", async () => {
    const words = fc.constantFrom(
      "Include",
      "Host",
      "Match",
      "exec",
      "*",
      "?",
      "[",
      "[!]",
      "]",
      '"',
      "=",
      "#",
      "\\",
      " ",
      "\t",
      "\n",
      "\r",
      "a",
      "/",
      "~",
      "Port",
      "é",
    );
    const file = join(folder, "any");
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 40 }), async (text) => {
        writeFileSync(file, text.join(""));
        await readConfigFile(file, "gpu8", folder).catch((error: unknown) => {
          assert.ok(error instanceof Error && error.message !== "");
        });
      }),
      { numRuns: 300 },
    );
  });
});

describe("what the configuration asks of the system's ssh", () => {
  it("is told: certificates, tickets, smart cards, a shared connection, signs of life", async () => {
    const config = [
      "CertificateFile ~/.ssh/lab-cert.pub",
      "PKCS11Provider /usr/lib/card.so",
      "GSSAPIAuthentication yes",
      "ControlPath /run/%r@%h:%p",
      "ServerAliveInterval 40",
      "StdinNull yes",
      "",
    ].join("\n");
    const host = await resolve(config, { host: "gpu8", user: "u", port: 23 });
    assert.deepEqual(host.beyond.certificateFiles, ["/home/me/.ssh/lab-cert.pub"]);
    assert.deepEqual([host.beyond.smartCard, host.beyond.gssapi, host.beyond.passedSocket], [true, true, false]);
    assert.equal(host.controlPath, "/run/u@gpu8:23");
    assert.equal(host.keepaliveSeconds, 40);
    assert.deepEqual(host.overrides, ["StdinNull=no"]);
    const plain = await resolve("GSSAPIAuthentication no\n", { host: "gpu8" });
    assert.deepEqual([plain.controlPath, plain.keepaliveSeconds, plain.overrides], [undefined, 0, []]);
  });
});

describe("names of files", () => {
  it("may have blanks, as ssh -G prints them without quotes and the file has them with", async () => {
    const config = `UserKnownHostsFile "${folder}/first one" ${folder}/second "~/third one"\n`;
    for (const env of [withSsh, withoutSsh]) {
      const { userKnownHosts } = await resolve(config, { host: "gpu8" }, env);
      assert.deepEqual(userKnownHosts.slice(0, 2), [`${folder}/first one`, `${folder}/second`]);
      assert.match(userKnownHosts[2] ?? "", /\/third one$/);
    }
  });
});

describe("the agent", () => {
  const agentOf = async (platform: NodeJS.Platform, env: Readonly<Record<string, string>>, config = "") => {
    const sshConfigFile = join(folder, `config${count++}`);
    writeFileSync(sshConfigFile, config);
    const context = { env: { PATH: folder, ...env }, home: "/home/me", user: "me", sshConfigFile, platform };
    return (await resolveHost({ host: "gpu8" }, context)).identityAgent;
  };

  it("of Windows is OpenSSH's pipe where nothing else is named; elsewhere there is none", async () => {
    const pipe = "\\\\.\\pipe\\openssh-ssh-agent";
    assert.equal(await agentOf("win32", {}), pipe);
    assert.equal(await agentOf("win32", { SSH_AUTH_SOCK: "\\\\.\\pipe\\mine" }), "\\\\.\\pipe\\mine");
    assert.equal(await agentOf("win32", {}, "IdentityAgent none\n"), undefined);
    assert.equal(await agentOf("linux", {}), undefined);
    assert.equal(await agentOf("linux", { SSH_AUTH_SOCK: "" }), undefined);
  });
});
