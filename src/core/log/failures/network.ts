import { group, rule, type Captured, type FailureRule } from "./rule";

const cause = (captured: Readonly<Record<string, string | undefined>>): string =>
  `The connection to the server could not be made or was cut${captured["what"] === undefined ? "" : `: ${captured["what"].trim()}`}.`;
const remedy =
  "Start it again (most downloads resume). Check proxy and firewall of the host (HTTPS_PROXY, HF_ENDPOINT); HF_HUB_DOWNLOAD_TIMEOUT can be raised.";

/** The rows of aria2's table of results. */
const aria2Results = {
  takenBack: /^[\da-f]{6}\|OK +\||Download complete: /,
  confirmed: /^[\da-f]{6}\|ERR +\|/,
  allTakenBack: /^\(OK\):download completed\.$/,
  // The reason stands a line below the address.
  about: (captured: Captured): string | undefined => /[^/?#]{1,200}(?=[?#]|$)/.exec(captured["uri"] ?? "")?.[0],
};

/** What is printed between two tries says nothing. */
const ownServerAnswers =
  /^(?!curl: |\+|\.+$|%|-{2}|[Ww]ait|[Ss]leep|[Rr]etry|[Nn]ot (?:ready|up)|.{0,60}\bnot (?:ready|up)\b|.{0,40}[Ww]aiting)\S/;

/** Network: only what is final. Retries are healthy until they are used up. */
export const networkRules: readonly FailureRule[] = [
  rule({
    failure: "network",
    scope: "exception",
    needles: [
      "CAS service error",
      "Data processing error",
      "cas_client",
      "error while using `hf_transfer`",
      "Error during download",
      "while downloading using `hf_transfer`",
    ],
    pattern:
      /Data processing error: |CAS service error|cas_client|(?:error while using|while downloading using) `hf_transfer`|Error during download.{0,40}hf_transfer/,
    cause: "The transfer backend of the hub (xet or hf_transfer) could not fetch a part of the file.",
    remedy:
      "Start the download again (it resumes); if it fails again set HF_HUB_DISABLE_XET=1 (or HF_HUB_ENABLE_HF_TRANSFER=0) and open the firewall for the xet hosts.",
  }),
  rule({
    failure: "network",
    scope: "exception",
    needles: [
      "ConnectError",
      "Timeout",
      "ReadError",
      "ProtocolError",
      "Connection",
      "ResolutionError",
      "MaxRetryError",
      "ChunkedEncodingError",
      "SSLError",
      "SSLEOFError",
      "ProxyError",
      "OfflineModeIsEnabled",
      "gaierror",
      "LocalEntryNotFoundError",
      "ServerDisconnectedError",
      "ClientPayloadError",
      "ClientConnectorError",
      "IncompleteRead",
      "URLError",
      "BrokenPipeError",
      "We couldn't connect to",
      "Couldn't reach",
      "Max retries exceeded",
      "Network is unreachable",
      "Temporary failure in name resolution",
      "Consistency check failed",
    ],
    pattern:
      /^(?:[\w.]*(?:LocalEntryNotFoundError|ConnectError|ConnectTimeout|ReadTimeout|ReadError|RemoteProtocolError|ConnectionError|ConnectionRefusedError|ConnectionResetError|ConnectTimeoutError|NewConnectionError|NameResolutionError|MaxRetryError|ReadTimeoutError|ProtocolError|ChunkedEncodingError|SSLError|SSLEOFError|ProxyError|OfflineModeIsEnabled|gaierror|ClientConnectorError|ServerDisconnectedError|ClientPayloadError|IncompleteRead|URLError|APIConnectionError|BrokenPipeError|EndpointConnectionError)(?:: |$|\n)(?<what>[^\n]{0,160})|[\w.]*(?:OSError|RuntimeError|TimeoutError|Exception|EnvironmentError|ValueError): [^\n]{0,200}(?:We couldn't connect to|Couldn't reach|Connection (?:refused|closed by peer|reset by peer|aborted|timed out)|Max retries exceeded|Network is unreachable|Temporary failure in name resolution|Consistency check failed))/,
    unless: /address already in use/,
    weight: 2,
    cause,
    remedy,
  }),
  rule({
    failure: "network",
    needles: [
      "Local entry not found",
      "name resolution",
      "Name or service not known",
      "Connection refused",
      "Connection reset",
      "timed out",
      "Network is unreachable",
    ],
    pattern:
      /^Error: (?<what>(?:Local entry not found|.{0,200}(?:Temporary failure in name resolution|Name or service not known|Connection refused|Connection reset|timed out|Network is unreachable)).{0,120})/,
    cause,
    remedy,
  }),
  // wget, curl, aria2, git, rsync, ssh, pip, apt
  rule({
    failure: "network",
    needles: ["Giving up", "wget: unable to resolve host", "wget: "],
    pattern:
      /^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )?(?:\([^)]{1,40}\) - )?(?<what>(?:Read error|Connection closed|.{0,100}(?:failed: Connection (?:timed out|refused)|[Uu]nable to resolve host)).{0,200})(?:Giving up\.)?$/,
    unless: /Retrying\.?\s*$/,
    cause,
    remedy,
  }),
  rule({
    failure: "network",
    needles: ["... failed: "],
    pattern: /^Connecting to \S.{0,200}\.\.\. failed: (?<what>.{1,80})$/,
    held: { takenBack: /^(?:Retrying\.|(?:Connecting|Reusing) .{1,200} connected\.)/ },
    cause,
    remedy,
  }),
  // conda, docker, gcloud, OpenSSH's scp
  rule({
    failure: "network",
    needles: [
      "CondaHTTPError: HTTP 000",
      "Error response from daemon: ",
      "Max retries exceeded",
      "Connection broken",
      "scp: Connection closed",
      "Timeout was reached",
      "unexpected end of file while",
    ],
    pattern:
      /^(?:CondaHTTPError: HTTP 000 .{0,200}|(?:docker: )?Error response from daemon: (?:Get|Head|Post) "https?:[^"]{1,300}": (?<what>(?!unauthorized|denied).{1,160})|ERROR: \(gcloud[\w.]{1,60}\) .{0,200}Max retries exceeded.{0,100}|download failed: .{1,300} Connection broken: .{0,100}|scp: Connection closed.{0,20}|(?:critical libmamba |error {4}libmamba )?.{0,40}Timeout was reached.{0,100})/,
    cause,
    remedy,
  }),
  // Go programs: ollama, docker, kubectl
  rule({
    failure: "network",
    needles: [
      "TLS handshake timeout",
      "i/o timeout",
      "connection reset by peer",
      "no such host",
      "context deadline exceeded",
      ": connection refused",
      "nexpected EOF",
    ],
    pattern:
      /^(?:Error|error|ERROR|FATAL|fatal)(?:\[\d{1,6}\])?:? .{0,120}(?:Get|Head|Post|Put) "https?:[^"]{1,600}": (?<what>.{0,160}(?:TLS handshake timeout|i\/o timeout|connection reset by peer|no such host|context deadline exceeded|connection refused|unexpected EOF).{0,80})/,
    cause,
    remedy,
  }),
  // rclone, aws, uv
  rule({
    failure: "network",
    needles: ["Failed to copy with", "endpoint URL", "Request failed after"],
    pattern:
      /^(?:Failed to (?:copy|sync)(?: with \d+ errors)?: last error was: (?<what>.{0,200}(?:connection|timeout|network|EOF|lookup).{0,160})|(?:fatal error: |(?:down|up)load failed: .{1,300} )(?:Could not connect to the endpoint URL|Connection was closed before|Connect timeout on endpoint URL|Read timeout on endpoint URL).{0,200}|error: Request failed after \d+ retries)/,
    cause,
    remedy,
  }),
  // A script that waits for a server of its own asks until it answers: any line of what comes after it takes this back.
  rule({
    failure: "network",
    needles: ["curl: (7) Failed to connect to "],
    pattern: /^curl: \(7\) Failed to connect to (?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1) port (?<port>\d{1,5})\b/,
    held: { takenBack: ownServerAnswers, confirmed: /(?!)/, everyLine: true },
    cause: (captured) => `Nothing answered on port ${group(captured, "port")} of this machine up to the end.`,
    remedy: "Look into the log of the server that was to listen there; it may have died, or listen on another port.",
    subject: (captured) => ({ port: group(captured, "port") }),
  }),
  rule({
    failure: "network",
    needles: ["curl: ("],
    pattern: /^curl: \((?:5|6|7|16|18|28|35|52|55|56|92|95|97)\) (?<what>.{1,160})/,
    // with --retry each attempt says how it failed
    held: { takenBack: /^Warning: Problem ?: .{1,80} Will retry in / },
    cause,
    remedy: "Start it again with `--retry 5 -C -` so that it resumes; check proxy and firewall of the host.",
  }),
  // aria2 says for each mirror why it failed; only its table at the end says what became of the file
  rule({
    failure: "auth",
    permanent: true,
    needles: ["errorCode=24 "],
    pattern: /^.{0,200}errorCode=24 (?:URI=(?<uri>\S{1,2000}))?/,
    held: aria2Results,
    cause: "The server refuses the download: credentials are missing or wrong, or a signed link has expired.",
    remedy: "Check the login for this server (--header with a token, .netrc) and whether the link is still valid.",
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    needles: ["errorCode=3 ", "errorCode=4 "],
    pattern: /^.{0,200}errorCode=[34] (?:URI=(?<uri>\S{1,2000}))?/,
    held: aria2Results,
    cause: "The server has no file of this name (404).",
    remedy: "Check the address.",
  }),
  rule({
    failure: "rate-limit",
    needles: ["errorCode=22 The response status"],
    pattern: /^.{0,200}errorCode=22 The response status is not successful\. status=429/,
    held: aria2Results,
    cause: "The server refused the download because of too many requests (HTTP 429).",
    remedy: "Wait, then start it again with fewer connections (-x, -j); log in if the server allows more then.",
  }),
  rule({
    failure: "network",
    needles: ["Download aborted", "errorCode="],
    pattern:
      /^(?:.{0,100} )?(?:(?:CUID#\d+ - )?Download aborted\. (?:URI=(?<uri>\S{1,2000}))?.{0,200}|.{0,200}errorCode=(?!7 )\d{1,2} .{0,200})$/,
    held: aria2Results,
    weight: 0,
    cause: "aria2 gave the download up.",
    remedy: "Start it again with the same command: aria2 resumes from its .aria2 file.",
  }),
  rule({
    failure: "network",
    weight: 0,
    needles: ["|ERR |", "|ERR  |", "|OK  |", "Download complete: ", "(OK):download completed."],
    pattern: /^[\da-f]{6}\|ERR +\|.{1,300}$/,
    cause: "aria2 gave the download up.",
    remedy: "Start it again with the same command: aria2 resumes from its .aria2 file.",
  }),
  rule({
    failure: "network",
    needles: ["fatal: unable to access", "RPC failed", "early EOF", "unexpected disconnect"],
    pattern:
      /^(?:fatal: (?:unable to access .{1,200}: (?<what>.{1,160})|early EOF|.{0,60}unexpected disconnect.{0,80}|fetch-pack: invalid index-pack output)|error: RPC failed; .{1,160})/,
    unless: /error: 40[13]/,
    cause: (captured) =>
      `git lost its connection to the server${captured["what"] === undefined ? "" : `: ${group(captured, "what")}`}.`,
    remedy: "Try again; for large files use git-lfs or the hub's own tool, which resume.",
  }),
  // mostly the echo of a refused login
  rule({
    failure: "network",
    weight: 0,
    needles: ["Could not read from remote repository"],
    pattern: /^fatal: Could not read from remote repository/,
    cause: "git could not read from the server.",
    remedy: "Look at the line above: mostly the login was refused, or the server cannot be reached.",
  }),
  rule({
    failure: "network",
    needles: [
      "rsync error: ",
      "rsync: connection",
      "kex_exchange_identification",
      "ssh: connect to host",
      "ssh: Could not resolve",
    ],
    pattern:
      /^(?:rsync error: (?:timeout in data send\/receive|error in (?:socket|rsync protocol) .{1,80}|.{1,60}\(code (?:10|12|30|35)\)).{0,120}|rsync: connection unexpectedly closed.{0,80}|ssh: connect to host \S{1,200} port \d+: (?<what>.{1,80})|ssh: Could not resolve hostname .{1,100}|kex_exchange_identification: .{1,100})/,
    cause,
    remedy: "Start it again (rsync goes on where it stopped with --partial); check the route to the host.",
  }),
  rule({
    failure: "network",
    severity: "warning",
    needles: ["client_loop: send disconnect", "closed by remote host", "Connection reset by", "not responding"],
    pattern:
      /^(?:client_loop: send disconnect: .{1,60}|Connection to \S{1,200} closed by remote host\.?|Timeout, server \S{1,200} not responding\.|packet_write_wait: .{1,120})\s*$/,
    cause: "The SSH connection broke; a detached job on the remote machine may well still be running.",
    remedy:
      "Connect again and look whether the job still runs; start long jobs detached (nohup, setsid, tmux), with ServerAliveInterval set for the connection.",
  }),
  rule({
    failure: "network",
    needles: [
      "Could not fetch URL",
      "ReadTimeoutError",
      "Failed to fetch",
      "ERROR: Could not install packages due to an OSError",
    ],
    pattern:
      /^(?:(?:ERROR: )?Could not install packages due to an OSError: (?:HTTPSConnectionPool|\[Errno \d+\] Connection).{0,200}|E: Failed to fetch .{1,200}|error: Failed to fetch: .{1,200})/,
    cause: "The package index could not be reached.",
    remedy: "Check proxy and index settings of the host (pip config list), or copy the packages there.",
  }),
  // the server's own fault, and W&B
  rule({
    failure: "network",
    scope: "both",
    needles: ["Server error '5\\d\\d ", "50\\d Server Error", "CommError: Run initialization has timed out"],
    pattern:
      /^(?:Error: Server error '5\d\d .{0,200}|[\w.]*(?:HTTPError|HfHubHTTPError|HTTPStatusError): (?:5\d\d Server Error|Server error '5\d\d ).{0,200}|[\w.]*CommError: Run initialization has timed out.{0,100})/,
    cause: "The server failed or did not answer in time.",
    remedy:
      "Start it again later (most downloads resume); W&B can write offline (WANDB_MODE=offline) and be synced afterwards.",
  }),
  rule({
    failure: "rate-limit",
    needles: ["An error occurred (SlowDown)"],
    pattern: /^(?:.{0,300} )?An error occurred \(SlowDown\) when calling .{0,80}reached max retries/,
    cause: "The storage service refused so many requests at once.",
    remedy: "Use fewer transfers at once, spread files over more prefixes, and start again.",
  }),
  rule({
    failure: "port-in-use",
    needles: ["java.net.BindException: Address already in use", "kind: AddrInUse"],
    pattern: /^(?:.{0,120})?(?:java\.net\.BindException: Address already in use|Os \{ code: 98, kind: AddrInUse)/,
    cause: "Another process holds the port.",
    remedy: "Find it with `ss -ltnp`, stop it, or take another port.",
  }),
];
