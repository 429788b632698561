/** Time left, in seconds from the moment it was asked, with an 80 % range. */
export interface Eta {
  readonly eta: number;
  readonly lo: number;
  readonly hi: number;
  /** When it was computed, our clock, ms since 1970; the finish is at `at + eta * 1000`. */
  readonly at: number;
}
