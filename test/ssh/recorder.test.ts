import { recorderBehaviour } from "./recorderBodies";
import { shells } from "./hostHarness";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) recorderBehaviour(name, path, makeLocal(), name === "dash" ? 8 : 3);
