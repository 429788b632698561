import { bytes, seconds, size } from "./byteFields";
import { present, type FormatReading, type ProgressFormat } from "./format";

/** A row of dots; the styles mega and giga have eight of them in a cluster. */
const wgetNeedles = ["........", ",,,,,,,,", "   100%"];

/** What wget's bar holds when the length is not known. */
const wgetFlying = ["   <=>", "<=>   "];

/** Tools that move bytes. wget, curl, aria2, rsync, pv, rclone, git and aws count in 1024, the hubs and docker in 1000. */
export const transferFormats: readonly ProgressFormat[] = [
  {
    // wget 1.x, redirected: `1622000K .......... .......... 33% 98.7M 32s`; the last row has `=47s`
    key: "wget",
    trigger: "K ",
    needles: wgetNeedles,
    read: ({ body }) => {
      if (!wgetNeedles.some((needle) => body.includes(needle))) return undefined;
      const match =
        /^ *\d+K [.,+ ]{1,120}?(?:(\d{1,3})% +)?([\d.]+[KMGT]?)(?: ?(=)?((?:\d+[dhms] ?|\d+\.\d+s)+))?\s*$/.exec(body);
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
    // wget 1.16+, length not known: `index.html    [   <=>      ]  15.02M  23.1MB/s    in 0.6s`
    key: "wget",
    trigger: "<=>",
    needles: wgetFlying,
    read: ({ body }) => {
      if (!wgetFlying.some((needle) => body.includes(needle))) return undefined;
      const match =
        /^(\S.{0,80}?) +\[ {0,200}<=> {0,200}\] +([\d.,]+[KMGT]?)(?: +(?:([\d.]+[KMGT]?B)|--\.-[KMG]?B)\/s)(?: +in ((?:[\d.]+[dhms] ?)+))?\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, label, done, rate, elapsed] = match;
      return {
        ...bytes({ done: size(done), rate: size(rate), elapsed: seconds(elapsed?.trim()) }),
        ...present({ label }),
      };
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
    // pv -n prints a number a line and nothing else: it is known by the shell's trace, `+ zstd -dc x.zst | pv -n -s 30708750131`
    key: "pv",
    trigger: "",
    needles: [" pv -n", " pv -s", " pv -i", " --numeric"],
    always: true,
    read: ({ body }, memory) => {
      if (memory.counting && /^\d{1,3}$/.test(body)) {
        const percent = Number(body);
        return percent <= 100 ? { metrics: { percent } } : undefined;
      }
      const options = body.includes("pv ")
        ? /(?:^|[\s|;&(])pv((?: +-{1,2}[\w-]+(?:[ =][\w.$/]+)?){1,12})/.exec(body)?.[1]
        : undefined;
      if (options !== undefined && / (?:-[a-zA-Z]*n|--numeric)/.test(options)) memory.counting = true;
      return undefined;
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
      const match = /^(\d+) bytes (?:\([^)]{1,60}\) )?copied, ([\d.]+(?:e-\d+)?) s, ([\d.]+ [kMGT]?B)\/s\s*$/.exec(
        body,
      );
      return match === null
        ? undefined
        : bytes({ done: Number(match[1]), elapsed: Number(match[2]), rate: size(match[3], 1000) });
    },
  },
];

function readRsync(body: string): FormatReading | undefined {
  const match =
    /^ *([\d,]+|[\d.]+[KMGT]) +(\d{1,3})% +([\d.]+[kKMGT]?B)\/s(?: {3,}| {2}(?=\d)| (?=\d:))(\d+:\d\d:\d\d|\?\?:\?\?:\?\?)(?: +\((?:xfr|xfer)#\d+, (?:to|ir)-(?:chk|check)=(\d+)\/(\d+)\))?\s*$/.exec(
      body,
    );
  if (match === null) return undefined;
  const [, done = "", percent, rate, time, left, total] = match;
  const duration = seconds(time);
  return bytes({
    // With -h its sizes are powers of 1000.
    done: size(done, 1000),
    rate: size(rate),
    ...(left === undefined ? { eta: duration } : { elapsed: duration }),
    metrics: {
      percent: Number(percent),
      files_left: left === undefined ? undefined : Number(left),
      files_total: total === undefined ? undefined : Number(total),
    },
  });
}
