import type { HostDefinition, StageDefinition } from "./definition";

/** What a host is where the session file says nothing. State goes where the XDG base directories have it. */
export const hostDefaults = {
  path: [],
  setup: [],
  shell: "auto",
  env: {},
  secrets: [],
  stateDir: "~/.local/state/ml-session",
} as const satisfies Partial<HostDefinition>;

/** What a stage is where the session file says nothing. */
export const stageDefaults = {
  kind: "other",
  env: {},
  needs: [],
  retries: { max: 0, on: "transient", backoffSeconds: 30 },
  whenBusy: "wait",
  stop: { signal: "TERM", graceSeconds: 30 },
  members: ["0"],
  unsupported: [],
  range: { from: 0, to: 0 },
} as const satisfies Partial<StageDefinition>;
