import { bytes, seconds, size } from "./byteFields";
import type { FormatReading, ProgressFormat } from "./format";

/** One direction of a transfer is idle, or a time is not known: all other columns are numbers alone. */
const curlNeedles = ["   0     0 ", "   0      0 ", "--:--:--"];

/** curl's meters: columns without names, k, M, G mean powers of 1024. */
export const curlFormats: readonly ProgressFormat[] = [
  {
    // curl -#: `######                            8.4%`
    key: "curl",
    trigger: "#",
    needles: [],
    always: true,
    read: ({ body }) => {
      const percent = /^#{1,400} +(\d{1,3}\.\d)%\s*$/.exec(body)?.[1];
      return percent === undefined ? undefined : { metrics: { percent: Number(percent) } };
    },
  },
  {
    // `% total % received % xferd, average down and up, times total, spent, left, current`
    key: "curl",
    trigger: "0 ",
    needles: curlNeedles,
    read: ({ body }) => (curlNeedles.some((needle) => body.includes(needle)) ? readCurl(body) : undefined),
  },
  {
    // curl -Z: `DL% UL%  Dled  Uled  Xfers  Live Total     Current  Left    Speed`, `Qd` behind `Live` in some versions
    key: "curl",
    trigger: "-- ",
    needles: ["--  --  ", "\\d --  "],
    read: ({ body }) => {
      const match = curlParallelRow.exec(body);
      if (match === null) return undefined;
      const [, percent = "", done, spent, left, rate] = match;
      const known = percent === "--" ? undefined : Number(percent);
      return bytes({
        done: size(done),
        rate: size(rate),
        elapsed: seconds(spent),
        eta: seconds(left),
        metrics: { percent: known },
      });
    },
  },
];

const amount = String.raw`([\d.]+[kKMGTP]?)`;
const counts = String.raw`^ *(\d{1,3}) +${amount} +(\d{1,3}) +${amount} +(\d{1,3}) +${amount} +${amount} +${amount}`;
const time = String.raw`(?:\d+:\d\d:\d\d|\d+d \d\dh|\d+d|-+:-+(?::-+)?)`;
/** Up to 8.17: eight columns for a time. */
const curlRow = new RegExp(String.raw`${counts} +(${time}) +(${time}) +(${time}) +${amount}\s*$`);
/** 8.18 and later: seven columns for a time, blank when it is not known. */
const narrowTime = String.raw`(\d:\d\d:\d\d| {2}\d\d:\d\d|\d\dh \d\dm|[ \d]\dd \d\dh| {3,5}\d{1,3}[dmy]| {7})`;
const narrowRow = new RegExp(String.raw`${counts} ${narrowTime} ${narrowTime} ${narrowTime} +${amount}\s*$`);
const curlParallelRow = new RegExp(
  String.raw`^ *(\d{1,3}(?= -- {2})|--(?= {2}-- {2})) +-- +${amount} +[\d.]+[kKMGTP]?(?: +\d+){2,3} +${time} +(${time}) +(${time}) +${amount}\s*$`,
);

function readCurl(body: string): FormatReading | undefined {
  const match = curlRow.exec(body) ?? narrowRow.exec(body);
  if (match === null) return undefined;
  const [, percent, total, , done, , , average, , , spent = "", left = "", current] = match;
  const all = size(total);
  const started = all !== undefined && all > 0;
  return bytes({
    done: size(done),
    total: started ? all : undefined,
    rate: size(current),
    elapsed: spent.trim() === "" ? undefined : seconds(spent),
    eta: left.trim() === "" ? undefined : seconds(left),
    metrics: { percent: Number(percent), ...(started ? { rate_avg: size(average) } : {}) },
  });
}
