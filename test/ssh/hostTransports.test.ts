import { fileBehaviour } from "./hostFileBodies";
import { followBehaviour } from "./hostFollowBodies";
import { runBehaviour } from "./hostRunBodies";
import { makeOverSsh } from "./sshTransports";

// What hostFiles, hostFollow and hostRuns show of this machine, over both ways to a real sshd. Following over ssh2 has
// tests of its own (hostSshd, chaos).
for (const [name, client] of [
  ["dash over ssh2", "built-in"],
  ["dash over the system's ssh", "system"],
] as const) {
  const make = makeOverSsh(client);
  fileBehaviour(name, "/usr/bin/dash", make);
  runBehaviour(name, "/usr/bin/dash", make);
  if (client === "system") followBehaviour(name, "/usr/bin/dash", make);
}
