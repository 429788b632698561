/** How a command over a shared connection ended, as far as the master's log tells. */
export type ChannelEnd = "status" | "signal";

const maxWords = 60;

/**
 * What `ssh` says of itself at LogLevel DEBUG1, line by line: where the login stands, and in plain words what went wrong.
 * The lines are OpenSSH's own (sshconnect2.c, clientloop.c, mux.c), in English whatever the locale. What a server's
 * banner adds to them may be forged: nothing here is trusted beyond the choice of words for a failure.
 */
export class SystemLog {
  /** Lines that are no debug output: errors, warnings, the server's banner. */
  readonly words: string[] = [];
  /** Methods that the host would still take. */
  methods: readonly string[] = [];
  /** Keys that were offered to the host. */
  readonly offered: string[] = [];
  /** A key that the host would take was found: what failed after that is its passphrase or its owner. */
  keyAccepted = false;
  /** The connection is logged in and carries commands. */
  ready = false;
  /** Heard each time the host said no to an attempt that was not a step of several. */
  onRefused: () => void = () => undefined;
  /** Heard when a key has changed: of the host, or of one on the way whose setting would let that pass. */
  onChangedKey: () => void = () => undefined;
  /** Heard for each line. */
  onLine: () => void = () => undefined;
  readonly #ends = new Map<string, { readonly end: ChannelEnd; readonly at: number }>();
  #rest = "";
  #count = 0;
  #partial = false;

  feed(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = (lines.pop() ?? "").slice(-4096);
    for (const line of lines) this.#line(line);
  }

  /** How many ends of channels were told so far; for `endOf`. */
  get ends(): number {
    return this.#count;
  }

  /** How the channel ended, if that was told after the first `since` ends. */
  endOf(channel: string, since: number): ChannelEnd | undefined {
    const told = this.#ends.get(channel);
    return told !== undefined && told.at > since ? told.end : undefined;
  }

  #line(line: string): void {
    this.onLine();
    const debug = /^debug\d: (.*)$/.exec(line)?.[1];
    if (debug !== undefined) this.#debug(debug);
    else if (line.endsWith(" with partial success.")) this.#partial = true;
    else if (line.trim() !== "" && !line.startsWith("Authenticated ")) {
      this.words.push(line.slice(0, 500));
      if (this.words.length > maxWords) this.words.shift();
      if (/^Offending .* key in /.test(line)) this.onChangedKey();
    }
  }

  #debug(line: string): void {
    const [, methods] = /^Authentications that can continue: (.*)$/.exec(line) ?? [];
    if (methods !== undefined) this.#answered(methods.split(",").filter(Boolean));
    const [, key] = /^Offering public key: (.*?)(?: SHA256:\S+)?(?: (?:explicit|agent|token))*$/.exec(line) ?? [];
    if (key !== undefined) this.offered.push(key);
    if (line.startsWith("Server accepts key")) this.keyAccepted = true;
    if (line.startsWith("Entering interactive session")) this.ready = true;
    const [, channel, how] = /^client_input_channel_req: channel (\d+) rtype exit-(status|signal)/.exec(line) ?? [];
    if (channel !== undefined) this.#ends.set(channel, { end: how as ChannelEnd, at: ++this.#count });
  }

  #answered(methods: readonly string[]): void {
    // The first list is the answer to no attempt at all.
    const first = this.methods.length === 0;
    this.methods = methods;
    if (!first && !this.#partial) this.onRefused();
    this.#partial = false;
  }
}
