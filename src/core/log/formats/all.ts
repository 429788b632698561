import type { ProgressFormat } from "./format";
import { seedFormats } from "./seed";
import { serverFormats } from "./servers";
import { tqdmFormats } from "./tqdm";
import { trainerFormats } from "./trainers";

/** All formats in the order they are tried: lines of one tool first, then meters, then dictionaries. */
export const progressFormats: readonly ProgressFormat[] = [
  ...seedFormats,
  ...serverFormats,
  ...tqdmFormats,
  ...trainerFormats,
];
