/**
 * Why a run was started, in the one field of its record that says by whom and from where. There it outlives the window,
 * so that every window counts the same retries: `me@laptop (retry 1/3 of RUN, resumes from 18000/25000)`.
 */
export interface LaunchNote {
  /** It was started by itself, for the `attempt`th time (from 1), since run `after` failed. */
  readonly retry?: { readonly attempt: number; readonly of: number; readonly after: string };
  /** It goes on with what was there. */
  readonly resume?: ResumePoint;
}

/** What a resumed run had before it: so many of the stage's outputs, of so many in all, where that is known. */
export interface ResumePoint {
  readonly from?: number;
  readonly total?: number;
}

/** The text for `LaunchRequest.launchedFrom`. */
export function noteText(by: string, { retry, resume }: LaunchNote): string {
  const parts: string[] = [];
  if (retry) parts.push(`retry ${retry.attempt}/${retry.of} of ${retry.after}`);
  if (resume) parts.push(`resumes${pointText(resume)}`);
  return parts.length === 0 ? by : `${by} (${parts.join(", ")})`;
}

function pointText({ from, total }: ResumePoint): string {
  if (from === undefined) return "";
  return total === undefined ? ` from ${from}` : ` from ${from}/${total}`;
}

/** What a record says of why its run was started; empty for a launch by hand that began anew. */
export function noteOf(launchedFrom: string): LaunchNote {
  if (!launchedFrom.endsWith(")")) return {};
  const note = launchedFrom.slice(launchedFrom.lastIndexOf(" (") + 2, -1);
  const [, attempt, of, after] = /^retry (\d{1,4})\/(\d{1,4}) of ([A-Za-z0-9._-]+)(?:,|$)/.exec(note) ?? [];
  const [resumes, from, total] = /(?:^|, )resumes(?: from (\d{1,15})(?:\/(\d{1,15}))?)?$/.exec(note) ?? [];
  return {
    ...(after === undefined ? {} : { retry: { attempt: Number(attempt), of: Number(of), after } }),
    ...(resumes === undefined
      ? {}
      : {
          resume: {
            ...(from === undefined ? {} : { from: Number(from) }),
            ...(total === undefined ? {} : { total: Number(total) }),
          },
        }),
  };
}
