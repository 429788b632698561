/**
 * Text from a host, to be shown as it is inside Markdown: every mark is escaped (CommonMark 0.31, 2.4: a backslash
 * before ASCII punctuation), which also keeps addresses from turning into links. Line ends turn into blanks, control
 * characters go, and what is longer than `limit` is cut.
 */
export function escapeMarkdown(text: string, limit = 500): string {
  const flat = plainLine(text);
  const cut = flat.length > limit ? `${flat.slice(0, limit)}…` : flat;
  return cut.replace(/[!-/:-@[-`{-~]/g, "\\$&");
}

/** Text from a host on one line, for labels and messages: no line ends, control or direction-changing characters. */
export function plainLine(text: string): string {
  return text
    .replace(/[\s\u0085\u2028\u2029]+/g, " ")
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, "")
    .trim();
}

/** As `plainLine`, for notifications: VS Code makes links of `[text](target)` there. */
export function plainMessage(text: string): string {
  return plainLine(text).replace(/\]\(/g, "] (");
}
