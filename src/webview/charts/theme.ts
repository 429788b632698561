/** Colours and type of the editor's theme, read anew when the theme changes. */
export interface Theme {
  readonly foreground: string;
  readonly muted: string;
  readonly grid: string;
  readonly surface: string;
  readonly border: string;
  readonly failed: string;
  readonly finished: string;
  readonly font: string;
  /** Colours of lines, in their order; red is left for failures. */
  readonly lines: readonly string[];
}

const lineColors = [
  ["--vscode-charts-blue", "#3794ff"],
  ["--vscode-charts-orange", "#d18616"],
  ["--vscode-charts-green", "#89d185"],
  ["--vscode-charts-purple", "#b180d7"],
  ["--vscode-charts-yellow", "#cca700"],
  ["--vscode-terminal-ansiCyan", "#11a8cd"],
  ["--vscode-terminal-ansiMagenta", "#bc3fbc"],
  ["--vscode-charts-foreground", "#888888"],
] as const;

/** What the page looks like right now. */
export function readTheme(): Theme {
  const style = getComputedStyle(document.body);
  const color = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
  const foreground = color("--vscode-foreground", "#888888");
  return {
    foreground,
    muted: color("--vscode-descriptionForeground", foreground),
    // As quiet as the editor's own borders; `charts.lines` is half as strong as text.
    grid: color("--vscode-panel-border", "rgba(128, 128, 128, 0.3)"),
    surface: color("--vscode-editorHoverWidget-background", color("--vscode-editor-background", "#ffffff")),
    border: color("--vscode-editorHoverWidget-border", foreground),
    failed: color("--vscode-charts-red", "#f14c4c"),
    finished: color("--vscode-charts-green", "#89d185"),
    font: color("--vscode-font-family", "sans-serif"),
    lines: lineColors.map(([name, otherwise]) => color(name, otherwise)),
  };
}

/** Calls back when the editor's theme has changed: VS Code then changes the body's class and the variables. */
export function onThemeChange(run: () => void): void {
  const observer = new MutationObserver(run);
  observer.observe(document.body, { attributes: true, attributeFilter: ["class", "data-vscode-theme-id"] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
}
