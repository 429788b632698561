import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { test } from "node:test";
import { nightSession, nightStart, snapshotOf } from "./webviewNight";
import { PlayedWebview } from "./webviewPage";

await mkdir("out/screens", { recursive: true });

/** Two frames after which all that was asked for in this one is drawn. */
async function drawn(view: PlayedWebview): Promise<void> {
  await view.page.evaluate(`new Promise((done) => {
    let left = 40;
    const next = () => (left-- === 0 ? done() : requestAnimationFrame(next));
    next();
  })`);
}

for (const theme of ["dark", "light"] as const) {
  test(`the night is drawn in the ${theme} theme`, async () => {
    const view = await PlayedWebview.open(theme, { width: 1280, height: 1250 });
    try {
      assert.deepEqual(await view.page.evaluate("sent"), [{ type: "ready" }]);
      await view.post(snapshotOf(nightSession(380)));
      await view.page.waitForSelector("section.card canvas[aria-label]");
      await drawn(view);
      await view.page.screenshot({ path: `out/screens/charts-${theme}.png` });
      const titles = await view.page.locator("h2").allTextContents();
      assert.deepEqual(titles, [
        "Throughput req/s",
        "Completion tokens",
        "Errors",
        "Requests in the server",
        "KV cache %",
        "Server tokens per second tok/s",
        "GPU utilisation %",
        "GPU memory GB",
        "GPU power W",
        "GPU temperature °C",
      ]);
      const label = await view.page.locator("canvas").first().getAttribute("aria-label");
      assert.match(label ?? "", /^Speed as the log tells it, in req\/s\. Now: inference 3\.\d req\/s$/);
      await view.page
        .locator("canvas")
        .first()
        .hover({ position: { x: 220, y: 80 } });
      await drawn(view);
      await view.page.screenshot({ path: `out/screens/charts-${theme}-hover.png` });
      await view.page.getByRole("button", { name: "GPU 3" }).first().click();
      await view.page.getByRole("button", { name: "Data table" }).click();
      const rows = await view.page.locator("table").first().locator("tbody tr").count();
      assert.ok(rows > 8 && rows <= 24);
      await view.page.screenshot({ path: `out/screens/charts-${theme}-table.png` });
      assert.deepEqual(view.complaints, []);
    } finally {
      await view.close();
    }
  });
}

test("a delta adds to the lines, a new theme recolours them, and an empty session says why", async () => {
  const view = await PlayedWebview.open("dark", { width: 600, height: 900 });
  try {
    await view.post(snapshotOf(nightSession(30)));
    await view.page.waitForSelector("section.card canvas[aria-label]");
    const key = "inference/rate";
    const samples = [{ key, times: Float64Array.of(nightStart + 31 * 60_000), values: Float64Array.of(7.5) }];
    await view.post({ type: "delta", samples, marks: [] });
    await view.page.waitForSelector('canvas[aria-label$="inference 7.5 req/s"]');
    const swatch = view.page.locator("button.line").first();
    assert.match((await swatch.getAttribute("style")) ?? "", /#3794ff/);
    await view.setTheme("light");
    await view.page.waitForSelector('button.line[style*="#0063d3"]');
    await drawn(view);
    await view.page.screenshot({ path: "out/screens/charts-narrow.png" });
    const empty = "Nothing to draw yet.";
    await view.post({ type: "snapshot", title: "hero", target: null, empty, charts: [], samples: [], marks: [] });
    await view.page.getByText(empty).waitFor();
    assert.equal(await view.page.locator("section.card").count(), 0);
    await view.page.screenshot({ path: "out/screens/charts-empty.png" });
    assert.deepEqual(view.complaints, []);
  } finally {
    await view.close();
  }
});

test("text of the host stays text", async () => {
  const view = await PlayedWebview.open("dark");
  try {
    const evil = '<img src=x onerror="sent.push(1)">';
    const lines = [{ key: "a", label: evil }];
    const charts = [{ id: "a", title: evil, about: evil, unit: { kind: "number" } as const, lines }];
    const samples = [{ key: "a", times: Float64Array.of(nightStart), values: Float64Array.of(NaN) }];
    await view.post({ type: "snapshot", title: evil, target: null, charts, samples, marks: [] });
    await view.page.waitForSelector("section.card canvas[aria-label]");
    assert.equal(await view.page.locator("img").count(), 0);
    assert.equal(await view.page.locator("h1").textContent(), evil);
    assert.deepEqual(await view.page.evaluate("sent"), [{ type: "ready" }]);
  } finally {
    await view.close();
  }
});
