import { shells } from "./hostHarness";
import { followBehaviour } from "./hostFollowBodies";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) followBehaviour(name, path, makeLocal());
