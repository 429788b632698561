import { environmentBehaviour } from "./environmentBodies";
import { shells } from "./hostHarness";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) environmentBehaviour(name, path, makeLocal());
