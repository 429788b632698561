/** Colours and type of the editor's theme, read anew when the theme changes. */
export interface Theme {
  readonly foreground: string;
  readonly muted: string;
  readonly grid: string;
  readonly axis: string;
  readonly background: string;
  readonly failed: string;
  readonly alert: string;
  readonly finished: string;
  readonly font: string;
  readonly lineWidth: number;
  /** Of lines that are denser than the pixels. */
  readonly denseWidth: number;
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
  const contrast = document.body.classList.contains("vscode-high-contrast");
  const quiet = color("--vscode-panel-border", "rgba(128, 128, 128, 0.3)");
  return {
    foreground,
    muted: color("--vscode-descriptionForeground", foreground),
    // As quiet as the editor's own borders; in high contrast those are as loud as the data, so it is fainter there.
    grid: contrast ? faint(foreground, 25) : quiet,
    axis: contrast ? foreground : quiet,
    background: color("--vscode-editor-background", "#ffffff"),
    failed: color("--vscode-charts-red", "#f14c4c"),
    alert: color("--vscode-charts-orange", "#d18616"),
    finished: color("--vscode-charts-green", "#89d185"),
    font: color("--vscode-font-family", "sans-serif"),
    lineWidth: contrast ? 2 : 1.25,
    denseWidth: contrast ? 1.5 : 1,
    lines: lineColors.map(([name, otherwise]) => color(name, otherwise)),
  };
}

/** The colour, seen through so much. */
export function faint(color: string, percent: number): string {
  return `color-mix(in srgb, ${color} ${percent}%, transparent)`;
}

/** A colour between two, nearer to the second. */
export function blend(color: string, other: string): string {
  return `color-mix(in srgb, ${color} 40%, ${other})`;
}

/** Calls back when the editor's theme has changed: VS Code then changes the body's class and the variables. */
export function onThemeChange(run: () => void): void {
  const observer = new MutationObserver(run);
  observer.observe(document.body, { attributes: true, attributeFilter: ["class", "data-vscode-theme-id"] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
}
