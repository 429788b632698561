import assert from "node:assert/strict";
import { test } from "node:test";
import { FollowedLog } from "../../src/core/followedLogs";
import { applyEvent, newSession } from "../../src/core/session/apply";
import type { SessionEvent } from "../../src/core/session/events";
import { stageRows } from "../../src/core/session/stageRows";
import { definition, host, identity, stage } from "./sessions";

const names = ["gpu8", "gpu9", "login"];

function rowsAfter(...events: readonly SessionEvent[]): {
  readonly session: string;
  readonly hosts: readonly string[];
} {
  const hosts = new Map(names.map((name) => [name, { ...host, name }]));
  const session = events.reduce(applyEvent, newSession("s", { ...definition(stage("download")), hosts }, 0));
  const [row] = stageRows(session, 10_000);
  assert.ok(row);
  return { session: row.description, hosts: row.children.map(({ description }) => description) };
}

const away = (name: string): SessionEvent => ({
  type: "connection-failed",
  at: 5000,
  host: name,
  reason: "unreachable",
  message: `${name} cannot be reached: no route`,
  retryAt: 20_000,
});

test("when no host can be reached it is said once, with what it may be, and stays while they are tried again", () => {
  const all = rowsAfter(...names.map(away));
  assert.equal(all.session, "no host can be reached (VPN?)");
  assert.deepEqual(all.hosts, ["not connected", "not connected", "not connected"]);
  const trying = rowsAfter(...names.map(away), { type: "connecting", at: 6000, host: "gpu9" });
  assert.equal(trying.session, all.session);
});

test("a host that is reached, or waits for a person, shows that the others are away by themselves", () => {
  const connected: SessionEvent = { type: "connected", at: 1000, host: "login", identity };
  assert.doesNotMatch(rowsAfter(away("gpu8"), away("gpu9"), connected).session, /VPN/);
  const login: SessionEvent = {
    type: "connection-failed",
    at: 5000,
    host: "login",
    reason: "needs-login",
    message: "",
  };
  const { session, hosts } = rowsAfter(away("gpu8"), away("gpu9"), login);
  assert.doesNotMatch(session, /VPN/);
  assert.match(hosts[0] ?? "", /no route/);
});

test("one host alone is away by itself, and links that were lost count as well", () => {
  assert.doesNotMatch(rowsAfter(away("gpu8")).session, /VPN/);
  const lost = names.map((name): SessionEvent => ({
    type: "disconnected",
    at: 1,
    host: name,
    byUser: false,
    message: "",
  }));
  const { session, hosts } = rowsAfter(...lost);
  assert.match(session, /VPN/);
  assert.match(hosts[0] ?? "", /^unknown since /);
});

test("what is gone unread stands above the text of a log, and goes with its beginning", () => {
  const log = new FollowedLog(() => undefined);
  log.reset(0, 0);
  log.setGap(2048, false);
  log.push(new TextEncoder().encode("one\ntwo\n"));
  assert.match(log.text, /^\[… 2(\.0)? kB could not be read …\]\none\ntwo\n$/);
  assert.equal(log.lineAt(4), 2);
  assert.equal(log.offsetOfLine(2), 4);
  log.push(new Uint8Array(5 * 1024 * 1024).fill(10));
  assert.doesNotMatch(log.text, /could not be read/);
  log.reset(0, 0);
  log.setGap(0, true);
  assert.match(log.text, /may be gone that nobody read/);
  log.reset(0, 0);
  assert.equal(log.text, "");
});
