import type { TimeSpan } from "./chartExtent";
import { chartExtent } from "./chartExtent";
import type { ChartOwner } from "./chartOwners";
import type { RemoteHost, Session } from "./model";
import { clockTime } from "./words";

/** Which span is asked for; as in the protocol with the charts page. */
type Range =
  { readonly kind: "all" } | { readonly kind: "last"; readonly ms: number } | ({ readonly kind: "fixed" } & TimeSpan);

const leastMs = 60_000;

/** The span that a range means now, and all that there is. While a host is connected both end now, so that a silence shows. */
export function chartSpans(
  session: Session,
  owners: readonly ChartOwner[],
  range: Range,
  now: number,
): { readonly span: TimeSpan; readonly extent: TimeSpan } {
  const known = chartExtent(owners) ?? { from: now - leastMs, to: now };
  const live = hostsOf(session, owners).some(({ connection }) => connection.kind === "connected");
  const to = Math.max(live ? now : known.to, known.from + leastMs);
  const extent = { from: known.from, to };
  if (range.kind === "fixed") return { span: { from: range.from, to: range.to }, extent };
  return { span: range.kind === "all" ? extent : { from: to - range.ms, to }, extent };
}

/** How old the picture is, where it is not live: `gpu8 not connected · as of 03:12`. Empty while all hosts are seen. */
export function chartStanding(session: Session, owners: readonly ChartOwner[], now: number): string {
  const away = hostsOf(session, owners).filter(({ connection }) => connection.kind !== "connected");
  if (away.length === 0) return "";
  const names = away.map(({ definition }) => definition.name);
  const theirs = owners.filter(({ host }) => names.includes(host));
  const last = chartExtent(theirs)?.to;
  const who = names.length > 3 ? `${names.length} hosts` : names.join(", ");
  return `${who} not connected${last === undefined ? "" : ` · as of ${clockTime(last, now)}`}`;
}

function hostsOf(session: Session, owners: readonly ChartOwner[]): readonly RemoteHost[] {
  const names = new Set(owners.map(({ host }) => host));
  return [...session.hosts.values()].filter(({ definition }) => names.size === 0 || names.has(definition.name));
}
