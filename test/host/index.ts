// What the editor calls in its extension host; run.mjs adds the imports of all test files.
export { runCases as run } from "../rig/suite";
