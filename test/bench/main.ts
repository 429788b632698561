// Prints the figures of docs/performance.md, one line of JSON each:  npm run --silent bench [-- NAME…]
import { measureAdversary } from "./adversary";
import { measureActivation, measurePackage } from "./activation";
import { measureCatchUp } from "./catchUp";
import { measureChaos } from "./chaos";
import { measureCharts } from "./charts";
import { measureEta } from "./eta";
import { print } from "./figure";
import { measureFirstPicture } from "./firstPicture";
import { measureFleetInMemory, measureFleetOfServers } from "./fleet";
import { measureHostCost } from "./hostCost";
import { measureLatency } from "./latency";
import { measureLaunchToRed } from "./launchToRed";
import { measureNight } from "./night";
import { measureRecorder } from "./recorder";
import { measureFuzz, measureGrowth, measurePathological, measureScan } from "./scan";
import { measureVerdict } from "./verdict";

const benches: Readonly<Record<string, () => Promise<void>>> = {
  "scan-typical": () => measureScan("typical", 1),
  "scan-dense": () => measureScan("dense", 0.25),
  "scan-bars": () => measureScan("bars", 1),
  "scan-growth": measureGrowth,
  fuzz: measureFuzz,
  pathological: measurePathological,
  latency: measureLatency,
  "fleet-8-servers": () => measureFleetOfServers(8),
  "fleet-8-memory": () => measureFleetInMemory(8),
  "fleet-32-memory": () => measureFleetInMemory(32),
  "launch-to-red": measureLaunchToRed,
  verdict: measureVerdict,
  "host-cost": measureHostCost,
  charts: measureCharts,
  eta: measureEta,
  activation: measureActivation,
  package: measurePackage,
  "catch-up": measureCatchUp,
  "first-picture": measureFirstPicture,
  night: measureNight,
  recorder: measureRecorder,
  chaos: measureChaos,
  adversary: measureAdversary,
};

const names = process.argv.slice(2);
/** `scan` stands for all figures that begin so. */
const isMeant = (figure: string, name: string): boolean => figure === name || figure.startsWith(`${name}-`);
const unknown = names.filter((name) => !Object.keys(benches).some((figure) => isMeant(figure, name)));
if (unknown.length > 0) {
  process.stderr.write(`No figure ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}.\n`);
  process.exit(2);
}
let broken = false;
for (const [name, measure] of Object.entries(benches)) {
  if (names.length > 0 && !names.some((asked) => isMeant(name, asked))) continue;
  try {
    await measure();
  } catch (error) {
    broken = true;
    const note = error instanceof Error ? (error.stack ?? error.message) : String(error);
    print({ name, value: null, unit: "", ok: false, note });
  }
}
process.exit(broken ? 1 : 0);
