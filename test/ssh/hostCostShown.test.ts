// What watching costs a host is measured there and stands in its tooltip.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stageRows } from "../../src/core/session/stageRows";
import { applyEvent } from "../../src/core/session/apply";
import { host, now, session } from "../unit/sampleSession";
import { makeTestHost, shells } from "./hostHarness";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) {
  describe(`what watching costs, under ${name}`, { timeout: 240_000 }, () => {
    it("grows with what is asked of the host, and counts what it sends", async () => {
      const test = await makeTestHost(path, makeLocal());
      try {
        const first = await test.ops.cost?.();
        assert.ok(first && first.bytes > 0);
        let last = first;
        // Ticks are coarse: so long until one more has passed.
        for (let n = 0; n < 500 && last.cpuMs === first.cpuMs; n++) {
          await test.ops.findTools(["sh"], undefined);
          last = (await test.ops.cost?.()) ?? first;
        }
        assert.ok(last.cpuMs > first.cpuMs && last.bytes > first.bytes);
      } finally {
        test.dispose();
      }
    });
  });
}

it("stands in the host's tooltip while it is connected", () => {
  const connected = session([], { hosts: new Map([["gpu8", host()]]) });
  const told = applyEvent(connected, { type: "cost", at: now, host: "gpu8", cpuShare: 0.0012, bytesPerSecond: 2048 });
  const tooltip = stageRows(told, now)[0]?.children[0]?.tooltip ?? "";
  assert.match(tooltip.replaceAll("\\", ""), /Watching costs this host 0\.12 % of a core, and it sends 2 kB\/s/);
  assert.doesNotMatch(stageRows(connected, now)[0]?.children[0]?.tooltip ?? "", /costs/);
});
