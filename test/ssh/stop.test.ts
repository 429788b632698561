import { shells } from "./hostHarness";
import { makeLocal } from "./localHost";
import { stopBehaviour } from "./stopBodies";

for (const { name, path } of shells) stopBehaviour(name, path, makeLocal());
