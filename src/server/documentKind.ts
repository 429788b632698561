/** What a document is to this server: a session file, a log, or nothing of ours. */
export function documentKind(uri: string, languageId: string): "session" | "log" | undefined {
  const path = uri.replace(/[?#].*$/, "");
  if (/[/:]ml-session(?:\.local)?\.yaml$/.test(path)) return "session";
  return languageId === "log" || /\.log$/i.test(path) ? "log" : undefined;
}
