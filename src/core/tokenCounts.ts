/** A field of the JSON lines that a stage writes, and how far they were read before. */
export interface TokenQuery {
  /** Paths or globs. */
  readonly files: readonly string[];
  /** Names of keys from the outermost, joined by dots: `usage.completion_tokens`. Of letters, digits, `_` and `-`. */
  readonly field: string;
  /** `read` of the reports before, put together; a file that is not in it is read from its beginning. */
  readonly known: ReadonlyMap<string, number>;
  /** Nothing is written any more: a last line without its line feed counts. */
  readonly whole?: boolean;
}

/** What was found in lines that were not read before. */
export interface TokenReport {
  /** By `DEVICE:INODE`, how many bytes of the file were read by now. Files in which nothing is new are not in it. */
  readonly read: ReadonlyMap<string, number>;
  /** How many lines have each number; numbers of 4096 and more to 1 in 2048. */
  readonly counts: ReadonlyMap<number, number>;
  readonly lines: number;
  /** Of these, lines without the field as a number. */
  readonly without: number;
  /** Of these, lines whose `finish_reason` is `length`: the limit of tokens ended them. */
  readonly ended: number;
  /** There is more, of which nothing was read this time. */
  readonly restBytes: number;
  /** A file has become shorter: what is known of all of them no longer holds. */
  readonly shorter: boolean;
  /** How long the host looked, ms. */
  readonly tookMs: number;
}

/** How long the answers of a model are, as its outputs tell. */
export interface TokenOps {
  /** Counts numbers of tokens in JSON lines. The numbers alone leave the host; some MB are read at a time. */
  tokenCounts(query: TokenQuery, cwd: string | undefined): Promise<TokenReport>;
}
