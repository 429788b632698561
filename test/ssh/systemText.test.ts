import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Asker } from "../../src/ssh/prompts";
import { failureOfSsh } from "../../src/ssh/systemErrors";
import { SystemLog } from "../../src/ssh/systemLog";
import { goesToHost, isKeyQuestion, putQuestion } from "../../src/ssh/systemPrompts";
import { ScriptedPerson } from "./connection";

/** Why a login failed, by what ssh printed. */
async function reasonOf(text: string, interactive = false, keyAsked = false): Promise<string> {
  const log = new SystemLog();
  log.feed(`${text}\n`);
  return (await failureOfSsh({ log, label: "box", user: "me", interactive, keyAsked })).reason;
}

describe("what ssh says of a failure", () => {
  const cases: readonly (readonly [text: string, quiet: string, clicked: string])[] = [
    ["ssh: connect to host box port 22: Connection refused", "unreachable", "unreachable"],
    ["ssh: connect to host box port 22: Connection timed out", "unreachable", "unreachable"],
    ["ssh: connect to host box port 22: No route to host", "unreachable", "unreachable"],
    ["ssh: Could not resolve hostname box: Name or service not known", "unreachable", "unreachable"],
    ["ssh: Could not resolve hostname box: Temporary failure in name resolution", "unreachable", "unreachable"],
    ["kex_exchange_identification: read: Connection reset by peer", "unreachable", "unreachable"],
    [
      "kex_exchange_identification: Connection closed by remote host\nConnection closed by 10.0.0.1 port 22",
      "unreachable",
      "unreachable",
    ],
    ["Connection timed out during banner exchange", "unreachable", "unreachable"],
    ["me@box: Permission denied (publickey).", "login-refused", "login-refused"],
    ["me@box: Permission denied (publickey,password).", "needs-login", "login-refused"],
    ["me@box: Permission denied (keyboard-interactive).", "needs-login", "login-refused"],
    [
      "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\nDisconnected from 10.0.0.1",
      "login-refused",
      "login-refused",
    ],
    [
      "No ED25519 host key is known for box and you have requested strict checking.\nHost key verification failed.",
      "host-key-unknown",
      "host-key-unknown",
    ],
    ["Host key verification failed.", "host-key-unknown", "host-key-unknown"],
    ["@ WARNING: REVOKED HOST KEY DETECTED! @\nHost key verification failed.", "host-key-revoked", "host-key-revoked"],
    [
      "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.",
      "host-key-changed",
      "host-key-changed",
    ],
    [
      "Unable to negotiate with 10.0.0.1 port 22: no matching cipher found. Their offer: arcfour",
      "unsupported",
      "unsupported",
    ],
    ["/home/me/.ssh/config: line 3: Bad configuration option: kexalgos", "unsupported", "unsupported"],
    ["Bad owner or permissions on /home/me/.ssh/config", "unsupported", "unsupported"],
    // The jump host's trouble comes first, and ssh's own words about the pipe say nothing.
    [
      "me@gate: Permission denied (publickey).\nkex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535",
      "login-refused",
      "login-refused",
    ],
    ["Host key verification failed.\nConnection closed by UNKNOWN port 65535", "host-key-unknown", "host-key-unknown"],
    ["", "unreachable", "unreachable"],
  ];
  for (const [text, quiet, clicked] of cases) {
    it(`is told apart: ${text.split("\n")[0]}`, async () => {
      assert.equal(await reasonOf(text), quiet);
      assert.equal(await reasonOf(text, true), clicked);
    });
  }

  it("is a refused key where the person was asked about it", async () => {
    assert.equal(await reasonOf("Host key verification failed.", true, true), "host-key-refused");
  });

  it("needs a person where the host would have taken a key that could not be used unasked", async () => {
    const accepted = "debug1: Server accepts key: /k ED25519 SHA256:x explicit\nme@box: Permission denied (publickey).";
    assert.equal(await reasonOf(accepted), "needs-login");
    assert.equal(await reasonOf(accepted, true), "login-refused");
  });

  it("is read from any text, in any pieces, without failing", async () => {
    const words = fc.constantFrom(
      "debug1: ",
      "Permission denied (",
      ")",
      "Offending X key in ",
      "/dev/zero:1",
      "\r\n",
      "\n",
      "\0",
      "\x1b]52;c;eA==\x07",
      "a".repeat(5000),
      "REMOTE HOST IDENTIFICATION HAS CHANGED",
      "client_input_channel_req: channel 2 rtype exit-status",
      "Authentications that can continue: ",
      ",,,",
      'Authenticated using "x" with partial success.',
      "(",
      "[",
      "\ufeff",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 30 }), fc.boolean(), async (pieces, interactive) => {
        const log = new SystemLog();
        for (const piece of pieces) log.feed(piece);
        const error = await failureOfSsh({ log, label: "box", user: "me", interactive, keyAsked: false });
        assert.ok(!error.message.includes("\x1b") && !error.message.includes("\x07"));
        assert.ok(error.message.length < 40_000);
      }),
      { numRuns: 200 },
    );
  });
});

describe("ssh's log", () => {
  it("tells how a channel ended, and which ends are older than a command", () => {
    const log = new SystemLog();
    log.feed("debug1: client_input_channel_req: channel 2 rtype exit-status reply 0\n");
    assert.equal(log.endOf("2", 0), "status");
    const since = log.ends;
    assert.equal(log.endOf("2", since), undefined);
    log.feed("debug1: client_input_channel_req: channel 2 rtype exit-");
    assert.equal(log.endOf("2", since), undefined);
    log.feed("signal reply 0\r\ndebug1: client_input_channel_req: channel 3 rtype eow@openssh.com reply 0\n");
    assert.equal(log.endOf("2", since), "signal");
    assert.equal(log.endOf("3", 0), undefined);
  });

  it("tells a refusal from a step of several, and from the answer to no attempt", () => {
    const log = new SystemLog();
    let refused = 0;
    log.onRefused = () => refused++;
    log.feed("debug1: Authentications that can continue: publickey,password\n");
    log.feed('Authenticated using "publickey" with partial success.\n');
    log.feed("debug1: Authentications that can continue: keyboard-interactive\n");
    assert.equal(refused, 0);
    log.feed("debug1: Authentications that can continue: keyboard-interactive,password\n");
    assert.equal(refused, 1);
    assert.deepEqual(log.methods, ["keyboard-interactive", "password"]);
    assert.deepEqual(log.words, []);
  });

  it("keeps only so much of what a host prints", () => {
    const log = new SystemLog();
    for (let i = 0; i < 2000; i++) log.feed(`${"x".repeat(2000)} ${i}\n`);
    assert.ok(log.words.join("").length < 40_000);
    log.feed("y".repeat(1 << 20));
  });
});

describe("what ssh asks", () => {
  const keyText = `The authenticity of host '[127.0.0.1]:2222 ([127.0.0.1]:2222)' can't be established.
ED25519 key fingerprint is SHA256:abc/def+123.
This key is not known by any other names.
Are you sure you want to continue connecting (yes/no/[fingerprint])? `;

  async function put(text: string, hint = "", keys = true) {
    const person = new ScriptedPerson(keys, ["typed"]);
    const answer = await putQuestion({ text, hint }, new Asker(person), "box");
    return { answer, question: person.questions[0] };
  }

  it("about a key is the question that ssh2 asks", async () => {
    const { answer, question } = await put(keyText);
    assert.equal(answer, "yes");
    assert.deepEqual(question, { host: "[127.0.0.1]:2222", keyType: "ED25519", fingerprint: "SHA256:abc/def+123" });
    assert.equal((await put(keyText, "", false)).answer, "no");
    const old = keyText.replace("fingerprint is SHA256:abc/def+123.", "fingerprint is SHA256:abc/def+123");
    assert.deepEqual((await put(old.replace("/[fingerprint]", ""))).question, question);
  });

  it("is hidden while it is typed, but for a yes or no", async () => {
    for (const text of [
      "me@box's password: ",
      "(me@box) Verification code: ",
      "Enter PIN for ED25519-SK key /k: ",
      "Enter passphrase for key '/k': ",
    ]) {
      const { question } = await put(text);
      assert.ok(question !== undefined && "secret" in question && question.secret, text);
    }
    for (const [text, hint] of [
      ["Allow use of key /k?\nKey fingerprint SHA256:x.", "confirm"],
      ["Please type 'yes', 'no' or the fingerprint: ", ""],
      ["Continue (yes/no)? ", ""],
    ] as const) {
      const { question } = await put(text, hint);
      assert.ok(question !== undefined && "secret" in question && !question.secret, text);
    }
  });

  it("goes to the host unless it is about a key of this machine", () => {
    const to = (text: string, hint = ""): boolean => goesToHost({ text, hint });
    assert.equal(to("me@box's password: "), true);
    assert.equal(to("(me@box) Enter passphrase for key '/k': "), true);
    assert.equal(to("Enter passphrase for key '/k': "), false);
    assert.equal(to("Enter PIN for ED25519-SK key /k: "), false);
    assert.equal(to("Allow use of key?", "confirm"), false);
    assert.equal(to(keyText), false);
  });

  it("may be any text of a host: it is shown as plain text, bounded, and never taken for a key's question in part", async () => {
    const ugly = [
      "",
      "\0",
      "\x1b]52;c;eA==\x07",
      "a".repeat(100_000),
      "[link](command:x)",
      "<b>",
      "\u202eevil",
      "{}",
      "The authenticity of host",
      "line\nline\r\nline",
      "(yes/no)",
      "'\"`$(x)",
    ];
    for (const text of ugly) {
      const { question } = await put(text);
      assert.ok(question !== undefined && "prompt" in question);
      assert.ok(question.prompt.length <= 500);
      assert.doesNotMatch(question.prompt, /[\p{Cc}\p{Cf}]/u);
      assert.equal(isKeyQuestion({ text: `(me@box) ${keyText}`, hint: "" }), false);
    }
  });
});
