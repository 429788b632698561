import type { ProgressFormat } from "./format";
import { gaugeFormats } from "./gauges";
import { rowFormats } from "./rows";
import { seedFormats } from "./seed";
import { serverFormats } from "./servers";
import { loopFormats, visionFormats } from "./loops";
import { stepFormats } from "./steps";
import { tqdmFormats } from "./tqdm";
import { trainerFormats } from "./trainers";
import { hubFormats } from "./hubTransfers";
import { transferFormats } from "./transfers";

/** All formats in the order they are tried: lines of one tool first, then meters, then dictionaries. */
export const progressFormats: readonly ProgressFormat[] = [
  ...seedFormats,
  ...serverFormats,
  ...tqdmFormats,
  ...trainerFormats,
  ...stepFormats,
  ...visionFormats,
  ...transferFormats,
  ...hubFormats,
  ...rowFormats,
  ...gaugeFormats,
  ...loopFormats,
];
