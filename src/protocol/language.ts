/** What the extension tells the language server when it starts it. */
export interface LanguageServerOptions {
  /** Whether failures in local log files become diagnostics. */
  readonly logDiagnostics: boolean;
}
