export type EditorVersion = "1.139" | "1.105";

export interface ServedEdition {
  /** The Node that the server runs on. */
  readonly node: string;
  readonly serverMain: string;
  /** VS Code's own version, three numbers. */
  readonly version: string;
}

export declare const newest: EditorVersion;
export declare const floor: EditorVersion;
export declare function cacheFolder(): string;
export declare function ensureEditor(version: EditorVersion, log?: (line: string) => void): Promise<ServedEdition>;
/** Runs a program to its end; rejects with the end of its output if it fails. */
export declare function runQuietly(command: string, args: readonly string[]): Promise<string>;
