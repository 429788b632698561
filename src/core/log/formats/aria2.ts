import { bytes, seconds, size } from "./byteFields";
import { present, type ProgressFormat } from "./format";

/** aria2 1.3x; sizes are truncated, k, M, G mean powers of 1024. */
export const aria2Formats: readonly ProgressFormat[] = [
  {
    // aria2 with several downloads: `[DL:115MiB][#a0f383 2.1GiB/4.6GiB(45%)][#bc01de …](+3)`; all together have no counter
    key: "aria2",
    trigger: "[DL:",
    marks: ["tag"],
    read: ({ body }, memory) => {
      const match = /^\[DL:([\d.]+[KMGT]?i?B)(?: UL:[^\]]{1,30})?\](?=\[#[\da-f]{6} )(.*)$/.exec(body);
      if (match === null) return undefined;
      const [, rate, rest = ""] = match;
      const more = Number(/\(\+(\d+)\)/.exec(rest)?.[1] ?? 0);
      memory.files = more + (rest.match(/\[#/g)?.length ?? 0);
      const percent = more > 0 ? undefined : shareOfAll(rest);
      return present({
        rate: size(rate),
        rate_unit: "B/s",
        metrics: percent === undefined ? undefined : { percent },
      });
    },
  },
  {
    // aria2 1.3x: `[#a0f383 2.1GiB/46GiB(4%) CN:16 DL:112MiB ETA:6m42s]`; 0B/0B while the length is unknown
    key: "aria2",
    trigger: " CN:",
    marks: ["tag"],
    read: ({ body }, memory) => {
      const match =
        /^\[#[\da-f]{6} ([\d.]+[KMGT]?i?B)\/([\d.]+[KMGT]?i?B)(?:\((\d+)%\))? CN:\d+(?: SD:\d+)?(?: DL:([\d.]+[KMGT]?i?B))?(?: UL:\S{1,30})?(?: ETA:((?:\d+[dhms])+))?\]/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done, total, percent, rate, eta] = match;
      const all = size(total);
      const detail = memory.files > 0;
      if (detail) memory.files--;
      return {
        ...bytes({
          done: size(done),
          total: all === 0 ? undefined : all,
          rate: size(rate),
          eta: seconds(eta),
          metrics: { percent: percent === undefined ? undefined : Number(percent) },
        }),
        ...(detail ? { role: "aux" } : {}),
      };
    },
  },
  {
    // aria2's table of results: `a0f383|OK  |   109MiB/s|/data/models/model.gguf`
    key: "aria2",
    trigger: "|OK",
    needles: ["|OK  |", "iB/s|/"],
    read: ({ body }) => {
      const match = /^[\da-f]{6}\|OK +\| *([\d.]+[KMGT]?i?B)\/s\|/.exec(body);
      return match === null ? undefined : present({ rate: size(match[1]), rate_unit: "B/s" });
    },
  },
];

/** How much of all files is there; undefined while the size of one is not known. */
function shareOfAll(text: string): number | undefined {
  let [done, total] = [0, 0];
  for (const [, tag = ""] of text.matchAll(/\[#([^\]]{1,60})\]/g)) {
    const match = /^[\da-f]{6} ([\d.]+[KMGT]?i?B)\/([\d.]+[KMGT]?i?B)(?:\(|$)/.exec(tag);
    const all = size(match?.[2]) ?? 0;
    if (all === 0) return undefined;
    done += size(match?.[1]) ?? 0;
    total += all;
  }
  return total > 0 ? Math.floor((100 * done) / total) : undefined;
}
