import { bytes, seconds, size } from "./byteFields";
import { present, type FormatReading, type ProgressFormat } from "./format";

/** One direction of a transfer is idle, or a time is not known: all other columns are numbers alone. */
const curlNeedles = ["   0     0 ", "--:--:--"];

/** Tools that move bytes. wget, curl, aria2, rsync, pv, rclone, git and aws count in 1024, the hubs and docker in 1000. */
export const transferFormats: readonly ProgressFormat[] = [
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
    // wget 1.x, redirected: `1622000K .......... .......... 33% 98.7M 32s`; the last row has `=47s`
    key: "wget",
    trigger: "K ",
    needles: ["..........", ",,,,,,,,,,", "   100%"],
    read: ({ body }) => {
      const match =
        /^ *\d+[KM] [.,+ ]{5,120}?(?:(\d{1,3})% +)?([\d.]+[KMGT]?)(?: ?(=)?((?:\d+[dhms] ?|\d+\.\d+s)+))?\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, percent, rate, last, time] = match;
      const duration = seconds(time?.trim());
      return bytes({
        rate: size(rate),
        metrics: { percent: percent === undefined ? undefined : Number(percent) },
        ...(last === undefined ? { eta: duration } : { elapsed: duration }),
      });
    },
  },
  {
    // wget's end: `2025-11-02 10:00:47 (101 MB/s) - ‘x’ saved [4976698672/4976698672]`
    key: "wget",
    trigger: "B/s) - ",
    read: ({ body }) => {
      const match =
        /^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )?\(([\d.]+ [KMG]?B)\/s\) - (?:.{1,400} saved|written to stdout) \[(\d+)(?:\/(\d+))?\]\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      return bytes({
        done: Number(match[2]),
        total: match[3] === undefined ? undefined : Number(match[3]),
        rate: size(match[1]),
      });
    },
  },
  {
    // wget 1.16+, bar: `train.tar.zst  41%[++++===>      ] 841.31M  25.9MB/s    eta 1m 3s`
    key: "wget",
    trigger: "%[",
    marks: ["share"],
    read: ({ body }) => {
      const match =
        /^(\S.{0,80}?) +(\d{1,3})%\[[+=> ]{0,200}\] +([\d.,]+[KMGT]?)(?: +(?:([\d.]+[KMGT]?B)|--\.-[KMG]?B)\/s)?(?: +(?:eta ((?:\d+[dhms] ?)+)|in ((?:[\d.]+[dhms] ?)+)))?\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, label, percent, done, rate, eta, elapsed] = match;
      return {
        ...bytes({
          done: size(done),
          rate: size(rate),
          eta: seconds(eta?.trim()),
          elapsed: seconds(elapsed?.trim()),
          metrics: { percent: Number(percent) },
        }),
        ...present({ label }),
      };
    },
  },
  {
    // curl: `% total % received % xferd, average down and up, times total, spent, left, current`, columns without names
    key: "curl",
    trigger: ":",
    needles: curlNeedles,
    read: ({ body }) => readCurl(body),
  },
  {
    // curl -Z: `DL% UL%  Dled  Uled  Xfers  Live Total     Current  Left    Speed`
    key: "curl",
    trigger: "-- ",
    needles: ["  --  "],
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
  {
    // aria2 with several downloads: `[DL:115MiB][#a0f383 2.1GiB/4.6GiB(45%)][#bc01de …]`
    key: "aria2",
    trigger: "[DL:",
    marks: ["tag"],
    read: ({ body }) => {
      const match = /^\[DL:([\d.]+[KMGT]?i?B)(?: UL:[^\]]{1,30})?\]\[#[\da-f]{6} /.exec(body);
      return match === null ? undefined : present({ rate: size(match[1]), rate_unit: "B/s" });
    },
  },
  {
    // aria2 1.3x: `[#a0f383 2.1GiB/46GiB(4%) CN:16 DL:112MiB ETA:6m42s]`; 0B/0B while the length is unknown
    key: "aria2",
    trigger: " DL:",
    marks: ["tag"],
    read: ({ body }) => {
      const match =
        /^\[#[\da-f]{6} ([\d.]+[KMGT]?i?B)\/([\d.]+[KMGT]?i?B)(?:\((\d+)%\))? CN:\d+ (?:SD:\d+ )?DL:([\d.]+[KMGT]?i?B)(?: UL:\S{1,30})?(?: ETA:((?:\d+[dhms])+))?\]/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done, total, percent, rate, eta] = match;
      const all = size(total);
      return bytes({
        done: size(done),
        total: all === 0 ? undefined : all,
        rate: size(rate),
        eta: seconds(eta),
        metrics: { percent: percent === undefined ? undefined : Number(percent) },
      });
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
  {
    // rsync 2.x, 3.x: `  22,216,707  24%   19.58MB/s    0:00:03 (xfr#2, to-chk=1/4)`; kB is 1024; with xfr the time is elapsed
    key: "rsync",
    trigger: "B/s ",
    needles: ["B/s   ", "B/s  \\d", "B/s \\d:"],
    read: ({ body }) => readRsync(body),
  },
  {
    // pv 1.6+: `8.00GiB 0:01:22 [99.8MiB/s] [========>       ] 27% ETA 0:03:41`
    key: "pv",
    trigger: "B/s]",
    needles: [
      "KiB/s]",
      "MiB/s]",
      "GiB/s]",
      "TiB/s]",
      "\\d B/s]",
      "\\diB/s]",
      ...["", "k", "K", "M", "G", "T"].map((unit) => `\\d\\d${unit}B/s]`),
    ],
    read: ({ body }) => {
      const match =
        /^ *(?:[\w.-]{1,40}: +)?([\d.]+ ?[KMGT]?i?B)(?: (\d+:\d\d:\d\d(?::\d\d)?))? \[ *([\d.]+ ?[KMGT]?i?B)\/s\](?: \[ *[\d.]+ ?[KMGT]?i?B\/s\])?(?: \[[^\]]{0,300}\](?: *(\d{1,3})%)?)?(?: ETA (\d+:\d\d:\d\d(?::\d\d)?))?(?: FIN \S{1,30})?\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done, elapsed, rate, percent, eta] = match;
      return bytes({
        done: size(done),
        elapsed: seconds(elapsed),
        rate: size(rate),
        eta: seconds(eta),
        metrics: { percent: percent === undefined ? undefined : Number(percent) },
      });
    },
  },
  {
    // pv -l counts lines, in 1000: ` 120k 0:01:22 [1.20k/s] [====>    ] 27% ETA 0:03:41`
    key: "pv",
    trigger: "/s] ",
    needles: ["\\d/s] [", "k/s] [", "M/s] [", "G/s] [", "T/s] ["],
    read: ({ body }) => {
      const match =
        /^ *([\d.]+[kMGT]?) (\d+:\d\d:\d\d(?::\d\d)?) \[ *([\d.]+[kMGT]?)\/s\] \[[^\]]{0,300}\](?: *(\d{1,3})%)?(?: ETA (\d+:\d\d:\d\d(?::\d\d)?))?\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done, elapsed, rate, percent, eta] = match;
      return present({
        done: size(done, 1000),
        unit: "line",
        elapsed_s: seconds(elapsed),
        rate: size(rate, 1000),
        rate_unit: "line/s",
        eta_s: seconds(eta),
        metrics: percent === undefined ? undefined : { percent: Number(percent) },
      });
    },
  },
  {
    // dd status=progress: `9663676416 bytes (9.7 GB, 9.0 GiB) copied, 91 s, 106 MB/s`; its MB is 1000
    key: "dd",
    trigger: " copied, ",
    read: ({ body }) => {
      const match = /^(\d+) bytes (?:\([^)]{1,60}\) )?copied, ([\d.]+) s, ([\d.]+ [kMGT]?B)\/s\s*$/.exec(body);
      return match === null
        ? undefined
        : bytes({ done: Number(match[1]), elapsed: Number(match[2]), rate: size(match[3], 1000) });
    },
  },
];

const curlTime = String.raw`(?:\d+:\d\d:\d\d|\d+:\d\d|\d+h \d\dm|\d+d \d\dh|-+:-+(?::-+)?|)`;
const curlRow = new RegExp(
  String.raw`^ *(\d{1,3}) +([\d.]+[kKMGT]?) +(\d{1,3}) +([\d.]+[kKMGT]?) +(\d{1,3}) +([\d.]+[kKMGT]?) +([\d.]+[kKMGT]?) +([\d.]+[kKMGT]?) +(${curlTime}) +(${curlTime}) +(${curlTime}) +([\d.]+[kKMGT]?)\s*$`,
);

const curlParallelRow = new RegExp(
  String.raw`^ *(\d{1,3}|--) +(?:\d{1,3}|--) +([\d.]+[kKMGT]?) +[\d.]+[kKMGT]? +\d+ +\d+ +${curlTime} +(${curlTime}) +(${curlTime}) +([\d.]+[kKMGT]?)\s*$`,
);

function readCurl(body: string): FormatReading | undefined {
  const match = curlNeedles.some((needle) => body.includes(needle)) ? curlRow.exec(body) : null;
  if (match === null) return undefined;
  const [, percent, total, , done, , , average, , , spent, left, current] = match;
  const all = size(total);
  const average_ = size(average);
  const started = all !== undefined && all > 0;
  return bytes({
    done: size(done),
    total: started ? all : undefined,
    rate: size(current),
    elapsed: seconds(spent),
    eta: seconds(left),
    metrics: { percent: Number(percent), ...(started ? { rate_avg: average_ } : {}) },
  });
}

function readRsync(body: string): FormatReading | undefined {
  const match =
    /^ *([\d,]+) +(\d{1,3})% +([\d.]+[kKMGT]?B)\/s +(\d+:\d\d:\d\d)(?: +\((?:xfr|xfer)#\d+, (?:to|ir)-(?:chk|check)=(\d+)\/(\d+)\))?\s*$/.exec(
      body,
    );
  if (match === null) return undefined;
  const [, done = "", percent, rate, time, left, total] = match;
  const duration = seconds(time);
  return bytes({
    done: Number(done.replaceAll(",", "")),
    rate: size(rate),
    ...(left === undefined ? { eta: duration } : { elapsed: duration }),
    metrics: {
      percent: Number(percent),
      files_left: left === undefined ? undefined : Number(left),
      files_total: total === undefined ? undefined : Number(total),
    },
  });
}
