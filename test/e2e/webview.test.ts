import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { after, test } from "node:test";
import axe from "axe-core";
import { PlayedCharts } from "./playedCharts";
import { nightSession, nightStart, type Night } from "./webviewNight";
import { closeBrowser, type PlayedTheme } from "./webviewPage";

await mkdir("out/screens", { recursive: true });
after(closeBrowser);
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
  ["members", { minutes: 240, gpus: 2, members: 16 }, "dark", large],
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

const short: Night = { minutes: 120, gpus: 2 };
const shortEnd = nightStart + short.minutes * minute;

async function withCharts(
  options: Partial<Parameters<typeof PlayedCharts.open>[0]>,
  use: (charts: PlayedCharts, page: PlayedCharts["view"]["page"]) => Promise<void>,
): Promise<void> {
  const charts = await PlayedCharts.open({ size: large, session: nightSession(short), now: shortEnd, ...options });
  try {
    await charts.drawn();
    await use(charts, charts.view.page);
    assert.deepEqual(charts.view.complaints, []);
  } finally {
    await charts.close();
  }
}

/** The spans that all charts show, in minutes of the night; they are one. */
async function shownMinutes({ view }: PlayedCharts): Promise<readonly [number, number] | undefined> {
  const spans: readonly string[] = await view.page.evaluate(
    `[...document.querySelectorAll(".plot")].map((plot) => plot.getAttribute("aria-valuemin") + " " + plot.getAttribute("aria-valuemax"))`,
  );
  if (new Set(spans).size !== 1) return undefined; // they are drawn one after the other
  const [from = 0, to = 0] = (spans[0] ?? "").split(" ").map((at) => (Number(at) - nightStart) / minute);
  return [from, to];
}

test("wheel, drag and keys zoom and move all charts at once, and following goes on with what is new", async () => {
  await withCharts({}, async (charts, page) => {
    const plot = page.locator(".plot").first();
    const box = await plot.boundingBox();
    assert.ok(box);
    const shows = async (test: (from: number, to: number) => boolean): Promise<void> => {
      for (let left = 600; ; left--) {
        const shown = await shownMinutes(charts);
        if (shown && test(...shown)) return;
        if (left === 0) assert.fail(`shows ${String(shown)}`);
        await charts.frames(6);
      }
    };
    await shows((from, to) => from === 0 && to === 120);
    const [left, right] = [box.x + 48, box.x + box.width - 16];
    const at = (share: number): number => left + share * (right - left);
    await page.mouse.move(at(0.25), box.y + 60);
    await page.mouse.down();
    await page.mouse.move(at(0.5), box.y + 60, { steps: 4 });
    await charts.screenshot("drag");
    await page.mouse.up();
    await shows((from, to) => Math.abs(from - 30) < 1 && Math.abs(to - 60) < 1);
    await page.getByText("paused").waitFor();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, 300);
    await page.keyboard.up("Control");
    await shows((from, to) => to - from > 50 && to - from < 60);
    await plot.focus();
    await page.keyboard.press("Shift+ArrowRight");
    await shows((from, to) => from > 25 && to < 90);
    await page.keyboard.press("+");
    await shows((from, to) => to - from < 30);
    await page.keyboard.press("ArrowLeft");
    await page.locator(".plot .cursor:visible").first().waitFor();
    const values = (await plot.getAttribute("aria-valuetext")) ?? "";
    assert.match(values, /^(Tue|Wed) \d\d:\d\d:\d\d: inference \d.* req\/s, inference mean \d/);
    await charts.screenshot("crosshair");
    await page.keyboard.press("Home");
    await shows((from, to) => from === 0 && to === 120);
    await page.getByRole("button", { name: "10 min" }).click();
    await shows((from, to) => from === 110 && to === 120);
    charts.change(nightSession({ ...short, minutes: 123 }), shortEnd + 3 * minute);
    await shows((from, to) => from === 113 && to === 123);
    await page.getByRole("button", { name: "Pause" }).click();
    charts.change(nightSession({ ...short, minutes: 130 }), shortEnd + 10 * minute);
    await charts.frames(30);
    await shows((from, to) => from === 113 && to === 123);
    await page.getByRole("button", { name: "Follow" }).click();
    await shows((from, to) => from === 120 && to === 130);
  });
});

test("the table says what was seen, and the summary too", async () => {
  const session = nightSession(short);
  await withCharts({ session }, async (charts, page) => {
    await page.getByRole("button", { name: "Table" }).click();
    await page.locator("table").first().waitFor();
    await charts.screenshot("table");
    const series = session.hosts.get("gpu8")?.gpus[1]?.series.byName.get("powerW");
    const rows: readonly (readonly [string, string])[] = await page.evaluate(
      `[...document.querySelectorAll('[data-chart="power"] tbody tr')].map((row) => [row.dataset.at, row.cells[2].textContent])`,
    );
    assert.ok(rows.length > 20 && rows.length <= 24, `${rows.length} rows`);
    // Lines have two samples for each pixel, so what a line says is from the moment or from the pixel beside it.
    const columnMs = 50_000;
    for (const [at, said] of rows) {
      const values = series?.values.filter((_, index) => Math.abs((series.times[index] ?? 0) - Number(at)) <= columnMs);
      assert.ok(
        [...(values ?? [])].some((value) => said === `${Math.round(value)} W`),
        `${said} at ${at}`,
      );
    }
    const told = /^Power drawn by each GPU\. From .* to .*\. GPU 0: now \d+ W, between \d+ W and \d+ W\./;
    await page.locator('[data-chart="power"] .spoken', { hasText: told }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Table" }).click();
    await page.locator(".plot").first().waitFor();
  });
});

test("sources are picked, lines switched off and axes made logarithmic, and a page that comes back shows the same", async () => {
  let state: unknown;
  await withCharts({}, async (charts, page) => {
    const titles = (): Promise<string[]> => page.locator("h2").allTextContents();
    assert.ok((await titles()).includes("KV cache %"));
    await page.getByRole("button", { name: "Sources" }).click();
    await page.getByRole("checkbox", { name: "vllm" }).uncheck();
    await page.getByRole("button", { name: "Sources 4/5" }).waitFor();
    await page.locator("h2", { hasText: "KV cache" }).waitFor({ state: "detached" });
    await charts.screenshot("picker");
    await page.getByRole("button", { name: "GPU 1" }).first().click();
    await page.getByRole("button", { name: "log axis of Throughput" }).click();
    await page.locator('[data-chart="throughput req/s"] button[aria-pressed="true"].small').waitFor();
    await charts.frames(6);
    await charts.screenshot("log");
    state = await page.evaluate("state");
  });
  await withCharts({ state }, async (_charts, page) => {
    await page.getByRole("button", { name: "Sources 4/5" }).waitFor();
    assert.equal(await page.locator("h2", { hasText: "KV cache" }).count(), 0);
    await page.locator('[data-chart="throughput req/s"] button[aria-pressed="true"].small').waitFor();
    await page.locator('button.line[aria-pressed="false"]', { hasText: "GPU 1" }).waitFor();
  });
});

test("charts out of sight, and a hidden page, are sent nothing", async () => {
  await withCharts({ size: { width: 500, height: 420 } }, async (charts, page) => {
    charts.view.posted.length = 0;
    charts.change(nightSession({ ...short, minutes: 121 }), shortEnd + minute);
    await page
      .locator(`.plot[aria-valuemax="${shortEnd + minute}"]`)
      .first()
      .waitFor();
    const keys = charts.view.posted.flatMap((text) =>
      [...text.matchAll(/"key":"([^"]+)","count"/g)].map(([, key]) => key),
    );
    assert.ok(keys.some((key) => key?.startsWith("throughput")));
    assert.equal(
      keys.some((key) => key?.startsWith("temperature")),
      false,
    );
    charts.surface.hide();
    charts.view.posted.length = 0;
    charts.change(nightSession({ ...short, minutes: 122 }), shortEnd + 2 * minute);
    await charts.frames(30);
    assert.deepEqual(charts.view.posted, []);
  });
});

test("a picture and the samples of what is shown are saved", async () => {
  await withCharts({ size: { width: 700, height: 400 } }, async (charts, page) => {
    await page.getByRole("button", { name: "10 min" }).click();
    await page.locator('button[aria-pressed="true"]', { hasText: "10 min" }).waitFor();
    await page.getByRole("button", { name: "CSV" }).click();
    await page.getByRole("button", { name: "PNG" }).click();
    for (let left = 600; charts.saved.length < 2 && left > 0; left--) await charts.frames(6);
    const csv = charts.saved.find(({ kind }) => kind === "csv");
    const png = charts.saved.find(({ kind }) => kind === "png");
    assert.match(csv?.name ?? "", /^charts hero 2026-12-02T0000$/);
    const rows = Buffer.from(csv?.bytes ?? [])
      .toString()
      .trimEnd()
      .split("\r\n");
    assert.equal(rows[0], "time,chart,line,unit,value");
    assert.equal(rows.filter((row) => row.includes(",GPU power,GPU 1,W,")).length, 60);
    const bytes = Buffer.from(png?.bytes ?? []);
    await mkdir("out/screens", { recursive: true });
    await writeFile("out/screens/charts-saved.png", bytes);
    // All charts, also those that were never scrolled to: ten in three columns.
    assert.ok(bytes.readUInt32BE(16) > 900 && bytes.readUInt32BE(20) > 700, "width and height of the PNG");
    assert.ok(bytes.length > 30_000);
  });
});

for (const theme of ["dark", "light", "high-contrast", "high-contrast-light"] as const) {
  test(`axe finds nothing in the ${theme} theme`, async () => {
    await withCharts({ theme }, async (_charts, page) => {
      const check = async (what: string): Promise<void> => {
        const found: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[] =
          await page.evaluate(
            "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
          );
        assert.deepEqual(
          found.map(({ id, nodes }) => `${what}: ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`),
          [],
        );
      };
      await page.evaluate(axe.source);
      await check("charts");
      await page.getByRole("button", { name: "Sources" }).click();
      await page.getByRole("button", { name: "Table" }).click();
      await page.locator("table").first().waitFor();
      await check("table and sources");
    });
  });
}

test("keys alone reach everything, and the theme changes while it is shown", async () => {
  await withCharts({}, async (charts, page) => {
    await page.getByRole("button", { name: "Sources" }).click();
    await page.evaluate(`(() => {
      globalThis.reached = new Set();
      document.addEventListener("focusin", ({ target }) => reached.add(target));
      document.activeElement.blur();
    })()`);
    const wanted = "[...document.querySelectorAll('button, input, [tabindex]')].filter((one) => one.checkVisibility())";
    const count: number = await page.evaluate(`${wanted}.length`);
    assert.ok(count > 40);
    for (let presses = 0; presses < count + 2; presses++) await page.keyboard.press("Tab");
    const missed: readonly string[] = await page.evaluate(
      `${wanted}.filter((one) => !reached.has(one)).map((one) => one.outerHTML)`,
    );
    assert.deepEqual(missed, []);
    await page.getByRole("checkbox", { name: "vllm" }).focus();
    await page.keyboard.press("Escape");
    await page.locator(".picker").waitFor({ state: "hidden" });
    await page.locator("button.line[style*='#3794ff']").first().waitFor();
    await charts.view.setTheme("light");
    await page.locator("button.line[style*='#0063d3']").first().waitFor();
  });
});

test("an empty page says why, and text of a host stays text", async () => {
  const session = nightSession(short);
  const evil = '<img src=x onerror="sent.push(1)">';
  const [inference] = [...session.stages.values()];
  assert.ok(inference);
  const stages = new Map([[evil, { ...inference, definition: { ...inference.definition, name: evil } }]]);
  await withCharts({ session: { ...session, hosts: new Map(), stages: new Map() } }, async (charts, page) => {
    await page.getByText("Not connected, and nothing was seen before.").waitFor();
    await charts.screenshot("empty");
    const named = { ...session, definition: { ...session.definition, name: evil }, stages };
    charts.change(named, shortEnd);
    await page.locator("button.line", { hasText: evil }).first().waitFor();
    assert.equal(await page.locator("h1").textContent(), evil);
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.evaluate("sent.includes(1)"), false);
  });
});

test("a host that is away makes the picture say how old it is", async () => {
  const connection = { kind: "lost", since: shortEnd, message: "" } as const;
  const session = nightSession({ ...short, connection });
  await withCharts({ session, now: shortEnd + 60 * minute }, async (charts, page) => {
    await page.getByText(/^gpu8 not connected · as of \d\d:\d\d$/).waitFor();
    const shown = await shownMinutes(charts);
    assert.ok(shown && shown[1] <= 120);
    await charts.screenshot("away");
  });
});
