import { group, rule, type FailureRule } from "./rule";

const gatedCause = "The model is gated and this account has not been granted access.";
const gatedRemedy =
  "Open the model's page, accept the licence, then log in with a token of that account (`hf auth login`, or HF_TOKEN) and start again. A fine-grained token also needs the right to read gated repositories.";
const authRemedy = "Create a new token and set HF_TOKEN, or run `hf auth login` again on this host.";
const repoRemedy =
  "Check the spelling of the repository and its type (--repo-type dataset), and log in if it is private.";

/** Model hubs: Hugging Face (huggingface_hub, hf, transformers, xet), W&B. */
export const hubRules: readonly FailureRule[] = [
  rule({
    failure: "gated-repo",
    permanent: true,
    scope: "exception",
    weight: 3,
    needles: [
      "GatedRepoError",
      "gated repo",
      "awaiting a review",
      "not in the authorized list",
      "Access to model",
      "Access to dataset",
      "gated dataset",
    ],
    pattern:
      /GatedRepoError|is a gated dataset on the Hub|(?:access|Cannot access) (?:a )?gated repo|Access to (?:model|dataset) .{1,200} is restricted|awaiting a review from the repo authors/,
    cause: gatedCause,
    remedy: gatedRemedy,
  }),
  rule({
    failure: "gated-repo",
    permanent: true,
    needles: ["requires approval", "gated repo", "is restricted"],
    pattern:
      /^Error: (?:Access denied\. This repository requires approval|.{0,200}gated repo|Access to (?:model|dataset) .{1,200} is restricted)|^(?:Cannot access gated repo for url|Access to (?:model|dataset) .{1,200} is restricted)/,
    cause: gatedCause,
    remedy: gatedRemedy,
  }),
  rule({
    failure: "repo-not-found",
    permanent: true,
    scope: "exception",
    weight: 3,
    needles: [
      "RepositoryNotFoundError",
      "is not a local folder and is not a valid model identifier",
      "DatasetNotFoundError",
      "RevisionNotFoundError",
      "HFValidationError",
      "modelscope.hub.errors.NotExistError",
    ],
    pattern:
      /RepositoryNotFoundError|modelscope\.hub\.errors\.NotExistError|HFValidationError: Repo id must|(?<repo>[\w./-]{1,120}) is not a local folder and is not a valid model identifier|DatasetNotFoundError: |RevisionNotFoundError/,
    // a name that does not exist is answered with 401 and "Invalid username or password", too
    unless: /Invalid (?:user token|credentials)|GatedRepo|Cannot access gated|HFValidationError: .{0,120}: '[./~]/,
    cause:
      "No repository (or revision) with this name exists on the hub, or it is private and the job is not logged in.",
    remedy: repoRemedy,
  }),
  // a folder that is not there is taken for a name on the hub
  rule({
    failure: "file-not-found",
    permanent: true,
    scope: "exception",
    weight: 3,
    needles: ["HFValidationError", "Incorrect path_or_model_id"],
    pattern: /(?:HFValidationError: Repo id must .{0,120}|Incorrect path_or_model_id): '(?<path>[./~][^']{0,300})'/,
    cause: (captured) =>
      `The folder ${group(captured, "path")} does not exist on this machine, so it was taken for a name on the hub.`,
    remedy: "Check the path (`ls`), and that its disk is mounted here; a relative path counts from the job's `cwd`.",
    subject: (captured) => ({ path: group(captured, "path") }),
  }),
  rule({
    failure: "repo-not-found",
    permanent: true,
    needles: [
      "epository not found",
      "Repository Not Found",
      "Revision not found",
      "Model not found",
      "fatal: repository",
    ],
    pattern:
      /^(?:fatal: repository '\S{1,300}' not found|ERROR: Repository not found|fatal: remote error: .{0,80}[Rr]epository not found)|^Error: (?:Repository not found|Repository Not Found|Model not found|Revision not found|Dataset not found)/,
    cause:
      "No repository (or revision) with this name exists on the hub, or it is private and the job is not logged in.",
    remedy: repoRemedy,
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    scope: "both",
    needles: [
      "EntryNotFoundError",
      "Entry Not Found",
      "does not appear to have a file named",
      "File not found in repository",
      "Entry not found",
      "Error: File not found",
      "Error no file named",
      "DataFilesNotFoundError",
      "EmptyDatasetError",
      "NoSuchKey",
      "NoSuchBucket",
      "An error occurred (404)",
    ],
    pattern:
      /^(?:(?:[\w.]*\.)?(?:Remote)?EntryNotFoundError(?!.{0,20}Local)|Error: (?:File|Entry) [Nn]ot [Ff]ound|[\w.]*(?:OSError|EnvironmentError): .{1,200} does not appear to have a file named (?<file>\S{1,100})|[\w.]*OSError: Error no file named |[\w.]*(?:DataFilesNotFound|EmptyDataset)Error\b|[\w.]*ClientError: An error occurred \((?:404|NoSuchKey|NoSuchBucket)\))/,
    unless: /LocalEntryNotFoundError|Local entry not found/,
    cause: "The repository has no file of this name (or the folder is not a complete model).",
    remedy: "Look at the list of files of the repository or folder, and check name, revision and pattern.",
  }),
  rule({
    failure: "rate-limit",
    scope: "both",
    weight: 3,
    needles: [
      "429 Client Error",
      "429 Too Many",
      "Error code: 429",
      "ate limit",
      "over its data quota",
      "ERROR 429: ",
      "returned error: 429",
      "toomanyrequests",
      "SlowDown",
      "exceeded its LFS budget",
      "exceeded a secondary rate",
      "Too many users have viewed or downloaded",
      "is over its data quota",
    ],
    pattern:
      /^(?:[\w.]*(?:HTTPError|HTTPStatusError|HfHubHTTPError|RateLimitError|Error)(?:\(\w{1,60}\))?: |Error: )(?:.{0,300}?)(?:429 (?:Client Error|Too Many Requests)|'429 Too Many Requests'|Error code: 429|[Rr]ate limit)|^(?:docker: )?(?:Error response from daemon: )?toomanyrequests: |^(?:fatal error: )?An error occurred \(SlowDown\)|^curl: \(22\) .{0,100}returned error: 429|^(?:Error downloading object: |batch response: ).{0,600}over its data quota|^.{0,60}ERROR 429: |^(?:batch response: )?This repository is over its data quota|^(?:batch response: |remote: )?.{0,60}exceeded (?:its LFS budget|a secondary rate limit)|^Too many users have viewed or downloaded this file/,
    cause: (captured) =>
      group(captured, "x") +
      "The server refuses more requests for now: too many were sent (HTTP 429), or a data quota is used up.",
    remedy:
      "Wait, use fewer workers, and send a token (HF_TOKEN): logged-in users may ask more often. A Git LFS quota belongs to the owner: use a mirror.",
  }),
  rule({
    failure: "auth",
    permanent: true,
    scope: "both",
    needles: [
      "Invalid token passed",
      "An error occurred (",
      "401 Anonymous caller",
      ...["401", "403"].flatMap((code) => [
        `${code} Client Error`,
        `${code} Unauthorized`,
        `${code} Forbidden`,
        `Error code: ${code}`,
        `returned error: ${code}`,
      ]),
      "Invalid credentials",
      "Invalid user token",
      "Invalid username or password",
      "uthentication failed",
      "uthentication required",
      "ermission denied",
      "ot logged in",
      "API key verification failed",
      "LocalTokenNotFoundError",
      "NoCredentialsError",
      "No API key",
      "api_key not configured",
      "could not read Username",
      "do not have permission to access the requested",
    ],
    pattern:
      /^(?:ValueError: Invalid token passed|ServiceException: 401 Anonymous caller|[\w.]*ClientError: An error occurred \((?:40[13]|AccessDenied|Forbidden|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken)\)|[\w.]*(?:LocalTokenNotFoundError|NoCredentialsError): |Error: Not logged in|[\w.]*AuthenticationError: API key verification failed)|^(?:[\w.]*(?:HTTPError|HTTPStatusError|HfHubHTTPError|AuthenticationError|PermissionDeniedError|CommError|UsageError|LocalTokenNotFoundError|BadRequestError)(?:\(\w{1,60}\))?: |Error: |wandb: ERROR |curl: \(22\) |fatal: (?!could not create|unable to create|cannot ))(?:[\s\S]{0,300}?)(?:\b40[13] (?:Client Error|Unauthorized|Forbidden)|'40[13] |Error code: 40[13]|returned error: 40[13]|Invalid (?:credentials|user token|username or password)|[Aa]uthentication (?:failed|required)|[Pp]ermission denied|not logged in|No API key|api_key not configured|could not read Username|do not have permission to access the requested)/,
    unless: /GatedRepo|gated repo(?!sitories)|requires approval|rate limit/,
    cause: "The server refused the credentials: the token is missing, wrong, expired, or has no right to this.",
    remedy: authRemedy,
  }),
  rule({
    failure: "auth",
    permanent: true,
    needles: [
      "ERROR 401",
      "ERROR 403",
      "Permission denied (publickey",
      "Invalid user token",
      "Host key verification failed",
      "errorCode=24",
      "errorCode=22",
      "status=403",
      "403 Forbidden",
      "Username/Password Authentication Failed",
      "Unable to locate credentials",
      "An error occurred (",
      "pull access denied",
      "unauthorized: ",
    ],
    pattern:
      /^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )?(?:ERROR 40[13]: |Username\/Password Authentication Failed)|^[\w.@-]{1,100}: Permission denied \((?:publickey|password|gssapi)[\w,-]{0,100}\)|^(?:Error: )?Invalid user token|^Host key verification failed|^(?:\[ERROR\] )?.{0,100}errorCode=24 |^(?:docker: )?Error response from daemon: (?:pull access denied|(?:(?:Get|Head) "[^"]{1,300}": )?(?:unauthorized: |denied: ))|^(?:fatal error: )?Unable to locate credentials|^(?:fatal error: |(?:down|up)load failed: .{1,300} )?An error occurred \((?:403|AccessDenied|Forbidden|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken)\)/,
    cause: "The server refuses access: credentials are missing or wrong, or a signed link has expired.",
    remedy: "Check the login for this server (token, key, .netrc) and whether the link is still valid.",
  }),
  rule({
    failure: "auth",
    permanent: true,
    scope: "both",
    weight: 2,
    needles: [
      "api_key not configured",
      "No API key",
      "API key must be 40",
      "permission denied",
      "The API key you provided",
    ],
    pattern:
      /^(?:wandb: )?(?:ERROR )?(?:.{0,60})?(?:wandb\.errors\.(?:errors\.)?\w*(?:UsageError|AuthenticationError|CommError): |ERROR )(?:api_key not configured|No API key configured|API key must be 40 characters|The API key you provided is .{0,40}invalid|.{0,100}permission denied)/,
    cause: "W&B has no valid API key on this host.",
    remedy: "Set WANDB_API_KEY (or run `wandb login` once on the host), or turn it off with WANDB_MODE=offline.",
  }),
  rule({
    failure: "auth",
    scope: "both",
    weight: 3,
    permanent: true,
    needles: [
      "failed to perform copy command due to error",
      "couldn't fetch token: ",
      "You must be logged in to the server",
      "Could not find kaggle.json",
      "DefaultCredentialsError",
      "ERROR CODE: AuthenticationFailed",
      "RESPONSE 403: 403 Server failed to authenticate",
    ],
    pattern:
      /^(?:failed to perform copy command due to error: .{0,300}(?:no SAS token|OAuth token|AuthenticationFailed)|(?:RESPONSE 403: 403 Server failed to authenticate|ERROR CODE: AuthenticationFailed)|(?:ERROR : )?.{0,200}couldn't fetch token: |error: You must be logged in to the server|(?:[\w.]*(?:OSError|Error): )?Could not find kaggle\.json|[\w.]*DefaultCredentialsError: )/,
    cause: "The storage service or cluster got no valid credentials.",
    remedy:
      "Log in again on this host with the tool of the service (azcopy login, rclone config reconnect, gcloud auth application-default login, kubectl's login, kaggle.json), and start again.",
  }),
  rule({
    failure: "repo-not-found",
    permanent: true,
    needles: ["pull model manifest: file does not exist"],
    pattern: /^Error: pull model manifest: file does not exist/,
    cause: "There is no model of this name in the registry.",
    remedy: "Look up the name and tag of the model, and correct the command.",
  }),
  rule({
    failure: "corrupt-file",
    needles: ["corrupted on transfer: "],
    pattern: /^(?:ERROR : )?.{0,200}corrupted on transfer: /,
    cause: "A file arrived with another checksum than it has at its source.",
    remedy: "Delete the file and copy it again; if it happens again, look at the disk and the network of this host.",
  }),
];
