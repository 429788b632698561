// A reporter for node:test that writes one JSON line a test, as the suites in the editor do (test/rig/suite.ts), so that
// scripts/test.mjs can add them up.
export default async function* reporter(source) {
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, file, details, skip, todo } = data;
    if (details?.type === "suite") continue;
    const milliseconds = Math.round(details?.duration_ms ?? 0);
    const note = skip ?? todo;
    const status = note !== undefined && note !== false ? "skipped" : type === "test:pass" ? "passed" : "failed";
    const message = status === "skipped" ? (note === true ? "no reason given" : note) : details?.error?.message;
    yield `${JSON.stringify({ name, file, status, milliseconds, message })}\n`;
  }
}
