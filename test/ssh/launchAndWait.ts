// Started by a test as a program of its own: launches what it is told, says so, and stays until it is killed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LaunchRequest } from "../../src/core/ports";
import { createConnector } from "../../src/ssh/connector";
import { hostAt, optionsFor } from "./connection";
import type { Sshd } from "./sshd";

const told = JSON.parse(process.env["ML_TEST_SSHD"] ?? "{}") as Sshd & { readonly request: LaunchRequest };
const { folder, port, user, userKeyFile, knownHostsLine, request } = told;
const config = join(folder, "first_config");
writeFileSync(join(folder, "first_known_hosts"), `${knownHostsLine}\n`);
const lines = ["Host box", "HostName 127.0.0.1", `Port ${port}`, `User ${user}`, `IdentityFile ${userKeyFile}`];
writeFileSync(config, `${[...lines, `UserKnownHostsFile ${join(folder, "first_known_hosts")}`].join("\n  ")}\n`);
const connector = createConnector(optionsFor(folder, { sshConfigFile: config }));
const host = { ...hostAt({ kind: "alias", alias: "box" }), stateDir: join(folder, "state") };
const ops = await connector.connect(host, false, new AbortController().signal);
const outcome = await ops.launch(request);
process.stdout.write(outcome.kind === "launched" ? `launched ${outcome.record.run}\n` : `${JSON.stringify(outcome)}\n`);
setInterval(() => undefined, 1000);
