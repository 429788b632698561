/** A place in a log that survives renames: the file's identity and how far it was read. */
export interface LogPosition {
  readonly device: string;
  readonly inode: string;
  readonly offset: number;
}

/** What a followed log does. Every byte that still exists on the host is given exactly once, in order. */
export type FollowEvent =
  /**
   * The file as first seen, or after `missing`. `size` is its size then. `goesOn`: what comes follows the bytes before the
   * position that was asked for, be it in the same file or in a copy of it.
   */
  | {
      readonly kind: "opened";
      readonly position: LogPosition;
      readonly size: number;
      readonly modifiedAt: number;
      readonly goesOn?: true;
    }
  /** `offset` is where `data` starts in the file. */
  | { readonly kind: "data"; readonly offset: number; readonly data: Uint8Array }
  /** All that was there when the following began (or resumed) has been given: what comes now is new. */
  | { readonly kind: "caught-up"; readonly offset: number }
  /**
   * The file was cut or replaced; reading goes on at its new start. `lost` bytes are known to be gone that nobody read;
   * `lostMore`: there may have been others, and nobody can tell how many.
   */
  | {
      readonly kind: "restarted";
      readonly position: LogPosition;
      readonly lost: number;
      readonly lostMore?: true;
      readonly modifiedAt?: number;
    }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly reason: string };

/**
 * Where following starts: at a byte of a known file, or so many bytes before the end of whatever is there. `last` are the
 * bytes before the position (64, or as many as there are), by which a copy of the file is known and a cut one is told
 * from one that has grown; `size` is the largest that the file was seen to have; `readAt`, when the position was reached (our
 * clock, ms since 1970), tells which files were rotated after that; `modifiedAt`, the latest that was told of the file (the
 * host's clock), which older files are no copy of it.
 */
export type FollowFrom =
  | {
      readonly kind: "position";
      readonly position: LogPosition;
      readonly last?: Uint8Array;
      readonly size?: number;
      readonly readAt?: number;
      readonly modifiedAt?: number;
    }
  | { readonly kind: "end"; readonly bytes: number };

/** What a process looks like from outside, for a log that somebody else's job writes. */
export interface LogWriter {
  /** Whether some process of this user has the file open for writing; undefined when the host cannot tell. */
  readonly open?: boolean;
  /** One of them. */
  readonly pid?: number;
}
