import { bytes, seconds, size } from "./byteFields";
import { present, type FormatReading, type ProgressFormat } from "./format";

const quantity = String.raw`\d[\d.]*`;
/** The end of a rate, with what stands before it. */
const rateNeedles = [
  "???B/s",
  ", ?B/s",
  ...["\\d\\d\\d", ".\\d\\d", " \\d\\d", "  \\d"].map((number) => `${number}B/s`),
  ...["k", "K", "M", "G", "T"].flatMap((unit) => ["\\d\\d", ".\\d", " \\d"].map((number) => `${number}${unit}B/s`)),
];

/** A bar of one file has no rate: `| 2.24GB / 4.98GB`. */
const amountNeedles = ["k", "M", "G"].flatMap((unit) => ["\\d", " "].map((after) => `\\d${unit}B / ${after}`));
const xetBar = new RegExp(
  `^([^|"{]{1,120}?): +(?:\\d{1,3}%)?\\|[^|]{0,200}\\| *(${quantity}[kKMGT]?B)(?: / +(${quantity}[kKMGT]?B))?(?:, +(?:(${quantity}[kKMGT]?B)/s|\\?+B/s))?\\s*$`,
  "u",
);

/** Bars beside the one of all files: single files, and what goes over the wire. */
const xetDetail = /^(?:\.\.\.|New Data Upload|Transferring|\[\+ \d+ files\])|\.[A-Za-z]\w{0,15}$/;

/** Clones, hubs, object stores, registries. git, aws and rclone count in 1024, the hub and docker in 1000. */
export const hubFormats: readonly ProgressFormat[] = [
  {
    // git 2.x: `Receiving objects:  43% (1401/3258), 14.02 MiB | 4.81 MiB/s`; phases follow each other
    key: "git",
    trigger: "% (",
    needles: ["objects: ", "deltas: ", "files: ", "content: "],
    read: ({ body }) => readGit(body),
  },
  {
    // git-lfs 1.x and early 2.x: `Git LFS: (3 of 7 files, 2 skipped) 2.10 GB / 14.90 GB, 1.20 GB skipped`
    key: "git",
    trigger: "Git LFS: (",
    read: ({ body }) => {
      const match =
        /^Git LFS: \(\d+ of (\d+) files(?:, \d+ skipped)?\) ([\d.]+ [KMGT]?B) \/ ([\d.]+ [KMGT]?B)(?:, [\d.]+ [KMGT]?B skipped)?\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      return bytes({ done: size(match[2]), total: size(match[3]), metrics: { files_total: Number(match[1]) } });
    },
  },
  {
    // aws s3: `Completed 1.2 GiB/4.5 GiB (120.5 MiB/s) with 3 file(s) remaining`; `~` while it still lists
    key: "aws-s3",
    trigger: "Completed ",
    needles: [" file(s) remaining"],
    read: ({ body }) => {
      const match =
        /^Completed ([\d.]+ [KMGT]?i?B|[\d.]+ Bytes)\/~?([\d.]+ [KMGT]?i?B|[\d.]+ Bytes) \(([\d.]+ [KMGT]?i?B|[\d.]+ Bytes)\/s\) with ~?(\d+) file\(s\) remaining/.exec(
          body,
        );
      if (match === null) return undefined;
      const plain = (text: string | undefined): number | undefined => size(text?.replace(" Bytes", "B"));
      return bytes({
        done: plain(match[1]),
        total: plain(match[2]),
        rate: plain(match[3]),
        metrics: { files_left: Number(match[4]) },
      });
    },
  },
  {
    // aws s3 between buckets: `Completed 3 file(s) with 7 file(s) remaining`
    key: "aws-s3",
    trigger: "Completed ",
    needles: [" file(s) remaining"],
    read: ({ body }) => {
      const match = /^Completed (\d+) file\(s\) with ~?(\d+) file\(s\) remaining/.exec(body);
      if (match === null) return undefined;
      return { done: Number(match[1]), unit: "file", metrics: { files_left: Number(match[2]) } };
    },
  },
  {
    // rclone 1.5x+: `Transferred:   	   12.345 GiB / 53.400 GiB, 23%, 95.412 MiB/s, ETA 7m20s`
    key: "rclone",
    trigger: "Transferred:",
    read: ({ body }) => {
      const match =
        /^ *Transferred:\s+([\d.]+ ?[kKMGT]?(?:i?B|Bytes)?) \/ ([\d.]+ ?[kKMGT]?(?:i?B|Bytes)?), (?:(\d+)%|-), ([\d.]+ ?[kKMGT]?(?:i?B|Bytes)?)\/s(?:, ETA (\S+))?/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done, total, percent, rate, eta] = match.map((part: string | undefined) => part?.replace("Bytes", "B"));
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
    // rclone --stats-one-line: `12.345 GiB / 53.400 GiB, 23%, 95.412 MiB/s, ETA 7m20s (xfr#3/12)`
    key: "rclone",
    trigger: "/s, ETA ",
    read: ({ body }) => {
      const match =
        /^(?:NOTICE)?:? *([\d.]+ ?[KMGT]?i?B) \/ ([\d.]+ ?[KMGT]?i?B), (\d+)%, ([\d.]+ ?[KMGT]?i?B)\/s, ETA (\S+)(?: \(.{1,40}\))?\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done, total, percent, rate, eta] = match;
      return bytes({
        done: size(done),
        total: size(total),
        rate: size(rate),
        eta: seconds(eta),
        metrics: { percent: Number(percent) },
      });
    },
  },
  {
    // rclone's files, beside its bytes: `Transferred:            5 / 12, 42%`
    key: "rclone",
    trigger: "Transferred: ",
    read: ({ body }) => {
      const match = /^ *Transferred: +(\d+) \/ (\d+), (?:(\d+)%|-)\s*$/.exec(body);
      if (match === null || match[2] === "0") return undefined;
      return { done: Number(match[1]), total: Number(match[2]), unit: "file", role: "aux" };
    },
  },
  {
    // rclone's errors: `Errors:                 3 (retrying may help)`
    key: "rclone",
    trigger: "Errors:  ",
    read: ({ body }) => {
      const count = /^Errors: +(\d+)(?: \(.{1,60}\))?\s*$/.exec(body)?.[1];
      return count === undefined ? undefined : { errors: Number(count) };
    },
  },
  {
    // rclone's clock: `Elapsed time:      2m12.3s`
    key: "rclone",
    trigger: "Elapsed time:  ",
    read: ({ body }) => {
      const elapsed = seconds(/^Elapsed time: +((?:[\d.]+[dhms]){1,4})\s*$/.exec(body)?.[1]);
      return elapsed === undefined ? undefined : { elapsed_s: elapsed };
    },
  },
  {
    // huggingface_hub 1.x with xet: `Reconstructing (incomplete total...):  23%|██▎  | 12.3GB / 53.4GB, 93.5MB/s`
    key: "hf-xet",
    trigger: "|",
    needles: [...rateNeedles, ...amountNeedles],
    read: ({ body }) => {
      const match = xetBar.exec(body);
      if (match === null || !(body.includes("B/s") || /\d[kMG]B \/ [\d ]/.test(body))) return undefined;
      const label = match[1]?.trim() ?? "";
      const all = size(match[3], 1000);
      return {
        ...bytes({ done: size(match[2], 1000), total: all === 0 ? undefined : all, rate: size(match[4], 1000) }),
        ...present({ label, role: xetDetail.test(label) ? "aux" : undefined }),
      };
    },
  },
  {
    // hf upload-large-folder: `Files:   hashed 40/128 (…) | pre-uploaded: 6/126 (…) | committed: 0/128 (…)`; committed is the goal
    key: "hf-upload",
    trigger: "| committed: ",
    read: ({ body }) => {
      const match = /^Files: +hashed \d+\/\d+ .{0,200}\| committed: (\d+)\/(\d+) /.exec(body);
      return match === null ? undefined : { done: Number(match[1]), total: Number(match[2]), unit: "file" };
    },
  },
  {
    // docker pull, one line a layer: `a2318d6c47ec: Downloading [===>    ]  1.074GB/5.369GB`
    key: "docker-pull",
    trigger: "ing [",
    needles: ["Downloading [", "Extracting ["],
    read: ({ body }) => {
      const match =
        /^([\da-f]{12}): (?:Downloading|Extracting) \[[=> ]{0,80}\] +([\d.]+[kKMGT]?B)\/([\d.]+[kKMGT]?B)\s*$/.exec(
          body,
        );
      return match === null
        ? undefined
        : {
            ...bytes({ done: size(match[2], 1000), total: size(match[3], 1000) }),
            ...present({ label: match[1] }),
            role: "aux",
          };
    },
  },
  {
    // docker build: `#12 sha256:9a1b 512.00MB / 2.91GB 12.3s`
    key: "docker-pull",
    trigger: "B / ",
    needles: amountNeedles,
    read: ({ body }) => {
      const match =
        /^#\d+ (?:[\d.]+ )?sha256:[\da-f]+ ([\d.]+[kMG]B) \/ ([\d.]+[kMGT]?B)(?: [\d.]+s)?(?: done)?\s*$/.exec(body);
      if (match === null) return undefined;
      return { ...bytes({ done: size(match[1], 1000), total: size(match[2], 1000) }), role: "aux" };
    },
  },
  {
    // pip and rich: `━━━━━ 377.5/906.4 MB 25.3 MB/s eta 0:00:21`; one unit for both numbers
    key: "pip",
    trigger: "B/s ",
    needles: ["B/s eta ", "B/s  \\d:", "B/s   \\d:", "B/s    \\d:"],
    read: ({ body }) => {
      const match =
        /^ *[━╸╺╍ -]{2,200} ?([\d.]+)\/([\d.]+) ([kKMGT]?B) ([\d.]+ [kKMGT]?B)\/s (?:eta (\d+:\d\d:\d\d|-:--:--)| {1,3}(\d+:\d\d:\d\d))\s*$/u.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done = "", total = "", unit = "", rate, eta, elapsed] = match;
      return {
        ...bytes({
          done: size(done + unit, 1000),
          total: size(total + unit, 1000),
          rate: size(rate, 1000),
          elapsed: seconds(elapsed),
          eta: seconds(eta),
        }),
        role: "aux",
      };
    },
  },
];

function readGit(body: string): FormatReading | undefined {
  const match =
    /^(?:remote: )?(Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Updating|Filtering|Unpacking|Checking out|Downloading LFS|Uploading LFS) (objects|deltas|files|content|LFS objects): +(\d{1,3})% \((\d+)\/(\d+)\)(?:, [\d.]+ [KMG]?i?B)?(?:(?: \||,) ([\d.]+ [KMG]?i?B)\/s)?(?:, (?:done|completed with \d+ local objects?)\.)?\s*$/.exec(
      body,
    );
  if (match === null) return undefined;
  const [, phase = "", what, percent, done, total, rate] = match;
  // git prints MiB; git-lfs prints MB and means 1000.
  const perSecond = size(rate, 1000);
  return present({
    done: Number(done),
    total: Number(total),
    unit: what === "content" || what === "files" ? "file" : "object",
    rate: perSecond,
    rate_unit: perSecond === undefined ? undefined : "B/s",
    metrics: { percent: Number(percent) },
    role: /^(?:Receiving|Filtering|Writing|Downloading|Uploading)/.test(phase) ? undefined : "aux",
  });
}
