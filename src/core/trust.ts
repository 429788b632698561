/** What a person is asked about a host whose key nobody vouched for yet. */
export interface HostKeyQuestion {
  /** As known_hosts writes it: `gpu8`, `[gpu8]:2222`. */
  readonly host: string;
  /** `ssh-ed25519`, `ssh-rsa`, … */
  readonly keyType: string;
  /** As OpenSSH prints it: `SHA256:…`. */
  readonly fingerprint: string;
}

/** One line that a person types. `prompt` may come from the host: it is data, shown as plain text. */
export interface PromptQuestion {
  readonly title: string;
  readonly prompt: string;
  /** Whether what is typed must not be seen. */
  readonly secret: boolean;
}

/** The person, as the connection sees them. Called only for connections that were asked for by a click. */
export interface Prompter {
  /** Resolves to `true` only for an explicit yes; closing the question is a no. */
  confirmHostKey(question: HostKeyQuestion): Promise<boolean>;
  /** `undefined`: cancelled. An empty answer is an answer. */
  ask(question: PromptQuestion): Promise<string | undefined>;
}

/** The product's own memory of host keys, kept apart from the user's files and never synchronised. */
export interface TrustedKeys {
  /** Lines in the format of known_hosts. */
  lines(): readonly string[];
  /** Keeps a line for this and later windows. */
  remember(line: string): Promise<void>;
  /** How a person takes a line out again, in plain words; ends the message about a changed key. */
  readonly removal?: string;
}
