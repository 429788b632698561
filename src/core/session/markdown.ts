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
  // Most names, paths and numbers are that already, and every row of every view asks.
  if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return text;
  return text
    .replace(/[\s\u0085\u2028\u2029]+/g, " ")
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, "")
    .trim();
}

/** Our own advice as Markdown: what stands between backticks becomes code; all else is escaped, as it may quote a host. */
export function adviceMarkdown(advice: string): string {
  const parts = plainLine(advice).split("`");
  // An odd number of backticks leaves the last one without its pair: then none of them is a mark.
  if (parts.length % 2 === 0 || advice.length > 500) return escapeMarkdown(advice);
  return parts.map((part, index) => (index % 2 === 1 && part !== "" ? `\`${part}\`` : escapeEdges(part))).join("");
}

/** Escaped, but with the blanks at its ends, which part it from the code beside it. */
function escapeEdges(part: string): string {
  const [lead, trail] = [part.startsWith(" ") ? " " : "", part.endsWith(" ") && part.trim() !== "" ? " " : ""];
  return `${lead}${escapeMarkdown(part)}${trail}`;
}

/** Our own advice where no Markdown is drawn: without its backticks. */
export function adviceText(advice: string): string {
  return plainLine(advice.replaceAll("`", ""));
}

/** As `plainLine`, for notifications: VS Code makes links of `[text](target)` there. */
export function plainMessage(text: string): string {
  return plainLine(text).replace(/\]\(/g, "] (");
}
