import ssh2 from "ssh2";
import type { AnyAuthMethod, Client } from "ssh2";
import type { Duplex } from "node:stream";
import { ConnectError, isConnectError, messageOf } from "../core/errors";
import type { Clock } from "../core/ports";
import { Credentials, type ServerAnswer } from "./credentials";
import { Deadline } from "./deadline";
import { isHandover, SystemSshNeeded } from "./handover";
import type { HostKeyCheck } from "./hostKeys";
import type { Asker } from "./prompts";
import type { ResolvedHost } from "./sshConfig";

/** All that one login needs. */
export interface LoginRequest {
  readonly host: ResolvedHost;
  readonly label: string;
  /** The way to the host; destroyed by the caller when the login fails. */
  readonly socket: Duplex;
  readonly hostKeys: HostKeyCheck;
  readonly asker: Asker;
  /** Whether there is a Kerberos ticket, which only OpenSSH can show. */
  readonly hasTicket: () => Promise<boolean>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Instead of 15 s; for tests. */
  readonly keepaliveMs?: number;
}

/** For the handshake and for each of the host's answers; stands still while a person is thinking. */
const answerLimitMs = 20_000;

/**
 * Shakes hands, checks the host's key, and only then logs in.
 * @throws ConnectError
 */
export function logIn(request: LoginRequest): Promise<Client> {
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const finish = (end: () => void): void => {
      if (over.signal.aborted) return;
      over.abort();
      request.asker.onThinking = () => undefined;
      end();
    };
    const fail = (error: unknown): void => {
      finish(() => {
        client.end();
        reject(error instanceof Error ? error : new Error(messageOf(error)));
      });
    };
    const { label, host } = request;
    const credentials = new Credentials(host, request.asker, label, request.hasTicket);
    credentials.onCancelled = fail;
    const deadline = new Deadline(request.clock, answerLimitMs, over.signal, () => {
      fail(unreachable(label, "it did not answer for 20 s"));
    });
    request.asker.onThinking = (thinking) => {
      deadline.set(!thinking);
    };
    // Never taken off: an `error` without a listener would end the whole extension host.
    client.on("error", (error) => {
      if (error.level !== "agent") fail(failureOf(error, label, credentials));
    });
    client.on("close", () => {
      fail(unreachable(label, "it closed the connection during the login"));
    });
    client.on("ready", () => {
      finish(() => {
        resolve(client);
      });
    });
    client.on("change password", () => {
      fail(new ConnectError("unsupported", `${label} demands a new password. Log in once with ssh in a terminal.`));
    });
    request.signal.addEventListener(
      "abort",
      () => {
        fail(request.signal.reason);
      },
      { signal: over.signal },
    );
    if (request.signal.aborted) fail(request.signal.reason);
    else shakeHands(client, request, { credentials, deadline, fail });
  });
}

interface Attempt {
  readonly credentials: Credentials;
  readonly deadline: Deadline;
  readonly fail: (error: unknown) => void;
}

function shakeHands(client: Client, request: LoginRequest, { credentials, deadline, fail }: Attempt): void {
  const { host, socket, hostKeys } = request;
  const methods = new LatestMethods();
  const attempts = credentials.attempts();
  const next = async (answer: ServerAnswer, offer: (attempt: AnyAuthMethod) => void): Promise<void> => {
    deadline.set(true);
    const step = await attempts.next(answer);
    if (step.done === true) fail(step.value);
    else offer(step.value);
  };
  socket.on("error", () => undefined);
  client.connect({
    sock: socket,
    username: host.user,
    // Our own deadline stands still while somebody types; ssh2's would not.
    readyTimeout: 0,
    keepaliveInterval: request.keepaliveMs ?? 15_000,
    keepaliveCountMax: 3,
    agentForward: false,
    algorithms: { serverHostKey: hostKeys.algorithms, compress: ["none"] },
    debug: methods.observe,
    hostVerifier: (key: Buffer, verify: (permitted: boolean) => void) => {
      if (hostKeys.accepts(key)) {
        verify(true);
        return;
      }
      hostKeys.verify(key).then(
        () => {
          verify(true);
        },
        (error: unknown) => {
          fail(error);
          verify(false);
        },
      );
    },
    authHandler: (_left, partial, offer) => {
      next({ methods: methods.latest, partial }, offer).catch(fail);
    },
  });
  deadline.set(true);
}

/**
 * The methods that the host named last. ssh2 does not pass them on after an attempt with an agent's key (it keeps the
 * list from before it), so they are read from its debug output; the version of ssh2 is pinned and tests hold this.
 */
class LatestMethods {
  latest: readonly string[] = [];

  readonly observe = (message: string): void => {
    const list = /^Inbound: Received USERAUTH_FAILURE \((.*)\)$/.exec(message)?.[1];
    if (list !== undefined) this.latest = list.split(",").filter((method) => method !== "");
  };
}

function unreachable(label: string, why: string, cause?: unknown): ConnectError {
  return new ConnectError("unreachable", `${label} cannot be reached: ${why}.`, { cause });
}

/** Codes of getaddrinfo(3) and connect(2), in words. */
const networkCauses: ReadonlyMap<string, string> = new Map([
  ["ENOTFOUND", "no such host name is known"],
  ["EAI_AGAIN", "its name cannot be looked up right now (no network?)"],
  ["ECONNREFUSED", "nothing listens on that port"],
  ["ETIMEDOUT", "it does not answer"],
  ["EHOSTUNREACH", "there is no route to it"],
  ["ENETUNREACH", "there is no network that leads to it"],
  ["ENETDOWN", "the network is down"],
  ["ECONNRESET", "it broke the connection off"],
  ["EPIPE", "it broke the connection off"],
]);

/** What an error of ssh2 before the login means to a person. */
function failureOf(
  error: Error & { level?: string; code?: unknown },
  label: string,
  credentials: Credentials,
): ConnectError | SystemSshNeeded {
  if (isConnectError(error) || isHandover(error)) return error;
  if (/too many authentication/i.test(error.message)) return credentials.refusal(error.message);
  const network = typeof error.code === "string" ? networkCauses.get(error.code) : undefined;
  if (network !== undefined) return unreachable(label, network, error);
  if (/no matching|unsupported/i.test(error.message)) {
    // Nothing was offered to the host yet; OpenSSH may have an algorithm that it takes (post-quantum ones).
    return new SystemSshNeeded(
      `the host and the built-in client have no algorithm in common (${error.message.replace("Handshake failed: ", "")})`,
    );
  }
  if (error.message === "Connection lost before handshake") {
    return unreachable(label, "it closed the connection before the handshake (too many connections at once?)", error);
  }
  return unreachable(label, error.message, error);
}
