import { fileBehaviour } from "./hostFileBodies";
import { shells } from "./hostHarness";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) fileBehaviour(name, path, makeLocal());
