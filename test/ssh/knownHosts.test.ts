import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import {
  fingerprintOf,
  hostKeyAlgorithms,
  hostsMatch,
  judgeHostKey,
  knownHostsLine,
  knownHostsName,
  parseKnownHosts,
} from "../../src/ssh/knownHosts";
import { makeKey } from "./sshd";

const folder = mkdtempSync(join(tmpdir(), "known-hosts-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A key made by OpenSSH: its blob, and the fingerprint as OpenSSH prints it. */
function realKey(
  name: string,
  type = "ed25519",
): { readonly blob: Buffer; readonly fingerprint: string; readonly type: string } {
  const file = join(folder, name);
  makeKey(file, "", type);
  const [keyType = "", encoded = ""] = readFileSync(`${file}.pub`, "utf8").split(" ");
  const printed = execFileSync("ssh-keygen", ["-l", "-f", `${file}.pub`], { encoding: "utf8" });
  return { blob: Buffer.from(encoded, "base64"), fingerprint: printed.split(" ")[1] ?? "", type: keyType };
}

const key = realKey("one");
const other = realKey("two");
const rsa = realKey("three", "rsa");
const known = (text: string) => parseKnownHosts([{ file: "known_hosts", text }]);
const judge = (text: string, name: string, blob = key.blob) => judgeHostKey(known(text), name, blob).kind;

describe("known hosts", () => {
  it("prints fingerprints as OpenSSH does", () => {
    for (const each of [key, other, rsa]) assert.equal(fingerprintOf(each.blob), each.fingerprint);
  });

  it("finds plain names, lists, ports, wildcards and negations", () => {
    const line = (hosts: string): string => `${hosts} ${key.type} ${key.blob.toString("base64")} a comment\n`;
    assert.equal(judge(line("gpu8"), "gpu8"), "match");
    assert.equal(judge(line("GPU8"), knownHostsName("Gpu8", 22)), "match");
    assert.equal(judge(line("gpu8"), "gpu9"), "unknown");
    assert.equal(judge(line("a,gpu8,10.0.0.1"), "10.0.0.1"), "match");
    assert.equal(judge(line("[gpu8]:2222"), knownHostsName("gpu8", 2222)), "match");
    assert.equal(judge(line("[gpu8]:2222"), "gpu8"), "unknown");
    assert.equal(judge(line("*.lab"), "gpu8.lab"), "match");
    assert.equal(judge(line("gpu?.lab"), "gpu8.lab"), "match");
    assert.equal(judge(line("gpu?.lab"), "gpu88.lab"), "unknown");
    assert.equal(judge(line("*.lab,!gpu8.lab"), "gpu8.lab"), "unknown");
    assert.equal(judge(line("!gpu8.lab,*.lab"), "gpu9.lab"), "match");
  });

  it("tells a changed key, of the same or of another type, and names the line", () => {
    const text = `# comment\n\n${knownHostsLine("gpu8", other.blob)}\n`;
    const verdict = judgeHostKey(known(text), "gpu8", key.blob);
    assert.deepEqual(verdict.kind === "changed" && [verdict.entry.file, verdict.entry.line], ["known_hosts", 3]);
    assert.equal(judge(knownHostsLine("gpu8", rsa.blob), "gpu8"), "changed");
    assert.equal(judge(`${text}${knownHostsLine("gpu8", key.blob)}\n`, "gpu8"), "match");
  });

  it("refuses a revoked key wherever else it is listed, and says nothing of others", () => {
    const good = knownHostsLine("gpu8", key.blob);
    const bad = `@revoked ${knownHostsLine("*", key.blob)}`;
    assert.equal(judge(`${good}\n${bad}\n`, "gpu8"), "revoked");
    assert.equal(judge(`${bad}\n`, "gpu8", other.blob), "unknown");
  });

  it("keeps certificate authorities apart from keys", () => {
    const read = known(`@cert-authority *.lab ${key.type} ${key.blob.toString("base64")}`);
    assert.deepEqual(read.entries, []);
    assert.deepEqual(
      read.authorities.map(({ hosts, line }) => [hosts, line]),
      [["*.lab", 1]],
    );
  });

  it("passes over what is no line of known_hosts", () => {
    const wrongType = `gpu8 ssh-rsa ${key.blob.toString("base64")}`;
    assert.deepEqual(known(`gpu8\ngpu8 ssh-ed25519\ngpu8 ssh-ed25519 ???\n@odd gpu8 a b\n${wrongType}\n`).entries, []);
  });

  it("offers the types it knows first", () => {
    assert.equal(hostKeyAlgorithms(known(knownHostsLine("gpu8", rsa.blob)), "gpu8")[0], "rsa-sha2-512");
    assert.equal(hostKeyAlgorithms(known(""), "gpu8")[0], "ssh-ed25519");
    assert.equal(hostKeyAlgorithms(known(""), "gpu8").length, 6);
  });

  it("reads files that ssh-keygen -H has hashed", () => {
    const file = join(folder, "hashed");
    const names = ["gpu8", "[gpu8]:2222", "10.0.0.5", "node-1.lab.example"];
    writeFileSync(file, names.map((name) => `${knownHostsLine(name, key.blob)}\n`).join(""));
    execFileSync("ssh-keygen", ["-H", "-f", file], { stdio: "ignore" });
    const text = readFileSync(file, "utf8");
    assert.ok(!text.includes("gpu8"));
    for (const name of names) assert.equal(judge(text, name), "match", name);
    assert.equal(judge(text, "gpu9"), "unknown");
    assert.equal(judge(text, "gpu8", other.blob), "changed");
  });

  it("agrees with ssh-keygen -F about which lines speak of a host", () => {
    const file = join(folder, "patterns");
    const lines = ["gpu8,gpu9", "*.lab,!bad.lab", "[gpu8]:2222", "10.0.0.?", "GPU7"];
    writeFileSync(file, lines.map((hosts) => `${knownHostsLine(hosts, key.blob)}\n`).join(""));
    for (const name of ["gpu8", "gpu9", "x.lab", "bad.lab", "[gpu8]:2222", "10.0.0.7", "10.0.0.77", "gpu7", "none"]) {
      let found = "";
      try {
        found = execFileSync("ssh-keygen", ["-F", name, "-f", file], { encoding: "utf8" });
      } catch {
        // Exit 1: not found.
      }
      assert.equal(judge(readFileSync(file, "utf8"), name), found === "" ? "unknown" : "match", name);
    }
  });

  it("never fails on any text, and a wildcard agrees with a plain reading of it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (text, name) => {
        judgeHostKey(known(text), name, key.blob);
      }),
    );
    const letters = fc
      .array(fc.constantFrom("a", "b", "*", "?", "."), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(letters, letters, (pattern, name) => {
        const reading = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".")}$`);
        assert.equal(hostsMatch(pattern, name), reading.test(name));
      }),
    );
  });

  it("is quick with a pattern made to be slow", () => {
    assert.equal(hostsMatch(`${"*a".repeat(2000)}b`, "a".repeat(4000)), false);
  });

  it("finds again what it wrote itself", () => {
    const host = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,30}$/);
    fc.assert(
      fc.property(host, fc.integer({ min: 1, max: 65535 }), (name, port) => {
        const full = knownHostsName(name, port);
        assert.equal(judge(knownHostsLine(full, key.blob), full), "match");
      }),
    );
  });
});
