import type { ProgressFormat } from "./format";
import { aria2Formats } from "./aria2";
import { curlFormats } from "./curl";
import { gaugeFormats } from "./gauges";
import { kerasFormats } from "./keras";
import { llamaCppFormats } from "./llamaCpp";
import { moreJobFormats } from "./moreJobs";
import { moreTrainerFormats } from "./moreTrainers";
import { nanoGptFormats } from "./nanoGpt";
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
  ...moreTrainerFormats,
  ...trainerFormats,
  ...stepFormats,
  ...nanoGptFormats,
  ...visionFormats,
  ...transferFormats,
  ...curlFormats,
  ...aria2Formats,
  ...hubFormats,
  ...rowFormats,
  ...llamaCppFormats,
  ...kerasFormats,
  ...gaugeFormats,
  ...moreJobFormats,
  ...loopFormats,
];
