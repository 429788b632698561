import { shells } from "./hostHarness";
import { runBehaviour } from "./hostRunBodies";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) runBehaviour(name, path, makeLocal());
