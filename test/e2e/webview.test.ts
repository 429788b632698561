import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { test } from "node:test";
import { PlayedCharts } from "./playedCharts";
import { nightSession, nightStart, type Night } from "./webviewNight";
import type { PlayedTheme } from "./webviewPage";

await mkdir("out/screens", { recursive: true });
const minute = 60_000;
const large = { width: 1280, height: 1000 };

/** A picture of each situation that charts must stand; look at them after a change. */
const pictures: readonly (readonly [
  name: string,
  night: Night,
  theme: PlayedTheme,
  size: { readonly width: number; readonly height: number },
])[] = [
  ["dark", { minutes: 380, gap: [200, 230] }, "dark", large],
  ["light", { minutes: 380, gap: [200, 230] }, "light", large],
  ["high-contrast", { minutes: 380, gap: [200, 230] }, "high-contrast", large],
  ["high-contrast-light", { minutes: 380, gap: [200, 230] }, "high-contrast-light", large],
  ["sidebar", { minutes: 380, gap: [200, 230] }, "dark", { width: 300, height: 900 }],
  ["panel", { minutes: 380, gap: [200, 230] }, "light", { width: 1100, height: 300 }],
  ["64-gpus", { minutes: 120, hosts: 8 }, "dark", large],
  ["one-point", { minutes: 0.5, gpus: 2 }, "dark", { width: 800, height: 700 }],
  ["nan", { minutes: 240, gpus: 1, nanAt: 180 }, "light", large],
  ["12-h", { minutes: 720, gap: [300, 420] }, "dark", large],
];

for (const [name, night, theme, size] of pictures) {
  test(`a picture: ${name}`, async () => {
    const now = nightStart + night.minutes * minute;
    const charts = await PlayedCharts.open({ theme, size, session: nightSession(night), now });
    try {
      await charts.drawn();
      await charts.screenshot(name);
      assert.deepEqual(charts.view.complaints, []);
    } finally {
      await charts.close();
    }
  });
}
