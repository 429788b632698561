import { ofMember } from "./definition";
import { isActive, lastSeen } from "./judge";
import { memberKey, type OpenMember } from "./pipelinePlan";
import type { Gpu, Member, RemoteHost, Session } from "./model";
import { count, decimal, list } from "./words";

/** Memory that a driver, a desktop or a forgotten context takes is no job's. */
const idleMemoryMib = 1024;
/** Utilisation of a GPU on which nothing but an occasional look at it runs, per cent. */
const idleUtilisation = 5;
/** Samples older than this say nothing of now. They come every few seconds. */
const staleMs = 30_000;
/** The driver shows the memory of a job that has ended for some seconds more. */
const letGoMs = 30_000;

/** GPUs as a session file gives them. */
type Gpus = "all" | readonly number[];

/** A member of the session that runs on GPUs, or is being started on them. */
interface Holder {
  readonly key: string;
  readonly name: string;
  readonly host: string;
  readonly gpus: Gpus;
}

/** Whether a member may have its GPUs now. `waits` and `refused` say for what, in words that follow "waits for". */
export type GpuTurn =
  | { readonly kind: "free" }
  | { readonly kind: "waits"; readonly for: string }
  | { readonly kind: "refused"; readonly reason: string };

/** Who has which GPU of a session's hosts, as far as members of the session and the last samples tell. */
export class GpuQueue {
  readonly #session: Session;
  readonly #now: number;
  readonly #holders: Holder[] = [];

  /** @param inFlight members, as `stage/member`, whose launch is under way already */
  constructor(session: Session, now: number, inFlight: ReadonlySet<string>) {
    this.#session = session;
    this.#now = now;
    for (const stage of session.stages.values()) {
      for (const member of stage.members) {
        const ref = { stage: stage.definition.name, member: member.name };
        if (!inFlight.has(memberKey(ref)) && !holds(member)) continue;
        this.take({ ref, member, definition: ofMember(stage.definition, member.name) });
      }
    }
  }

  /** The member is being started: its GPUs are its own from now on. */
  take({ ref, definition }: OpenMember): void {
    const { gpus, host } = definition;
    if (gpus === undefined || gpus.length === 0) return;
    this.#holders.push({ key: memberKey(ref), name: this.#name(ref.stage, ref.member), host, gpus });
  }

  /**
   * Whether the member's GPUs are free. Two members of a session never share one; what `when_busy` says is about
   * everybody else, services that the stage does not need among them.
   */
  turn(one: OpenMember): GpuTurn {
    const { gpus, host, whenBusy } = one.definition;
    const place = this.#session.hosts.get(host);
    if (gpus === undefined || gpus.length === 0 || !place) return { kind: "free" };
    const own = this.#holders.find((holder) => holder.host === host && overlap(holder.gpus, gpus));
    if (own) return { kind: "waits", for: `${gpuNames(shared(own.gpus, gpus))} (${own.name} runs there)` };
    if (place.gpusUnavailable !== undefined) return { kind: "free" };
    if (place.gpus.length === 0) return { kind: "waits", for: "a first look at the GPUs" };
    const busy = place.gpus.filter((gpu) => includes(gpus, gpu.index) && !this.#lent(one, gpu.index));
    const held = busy.flatMap((gpu) => this.#use(gpu, place) ?? []);
    if (held.length === 0) return { kind: "free" };
    const words = listed(held);
    if (this.#justLetGo(one)) return { kind: "waits", for: words };
    if (whenBusy === "start") return { kind: "free" };
    if (whenBusy === "refuse") return { kind: "refused", reason: `in use by somebody else: ${words}` };
    return { kind: "waits", for: words };
  }

  /** A service that the stage needs shares its GPUs with it: so the file says. */
  #lent({ definition }: OpenMember, index: number): boolean {
    return definition.needs.some((need) => {
      const service = this.#session.services.get(need)?.definition;
      return service?.host === definition.host && service.gpus !== undefined && includes(service.gpus, index);
    });
  }

  /** What is on the GPU, in words; undefined where nothing is. */
  #use({ index, sample }: Gpu, host: RemoteHost): string | undefined {
    const at = sample.at - (host.identity?.clockOffsetMs ?? 0);
    const { memoryUsedMib = 0, utilisation = 0 } = sample;
    if (this.#now - at > staleMs) return `GPU ${index} (not seen for a while)`;
    if (memoryUsedMib > idleMemoryMib) return `GPU ${index} (${decimal(memoryUsedMib / 1024)} GB in use)`;
    return utilisation > idleUtilisation ? `GPU ${index} (${count(utilisation)} % busy)` : undefined;
  }

  /** Whether a member of the session had one of the GPUs until a moment ago. */
  #justLetGo({ definition }: OpenMember): boolean {
    const { gpus = [], host } = definition;
    return [...this.#session.stages.values()].some(({ definition: other, members }) =>
      members.some(
        ({ name, endSeenAt }) =>
          other.host === host &&
          endSeenAt !== undefined &&
          this.#now - endSeenAt < letGoMs &&
          overlap(ofMember(other, name).gpus ?? [], gpus),
      ),
    );
  }

  #name(stage: string, member: string): string {
    return (this.#session.stages.get(stage)?.members.length ?? 0) > 1 ? `${stage} ${member}` : stage;
  }
}

/** Whether a run of it, or its launch, is under way. A log that is only watched says nothing of GPUs: samples do. */
function holds({ state }: Pick<Member, "state">): boolean {
  const seen = lastSeen(state);
  return isActive(seen) && seen.kind !== "watching";
}

function includes(gpus: Gpus, index: number): boolean {
  return gpus === "all" || gpus.includes(index);
}

function overlap(a: Gpus, b: Gpus): boolean {
  if (a.length === 0 || b.length === 0) return false;
  return a === "all" || b === "all" || a.some((index) => b.includes(index));
}

function shared(a: Gpus, b: Gpus): Gpus {
  if (a === "all") return b;
  return b === "all" ? a : a.filter((index) => b.includes(index));
}

function gpuNames(gpus: Gpus): string {
  if (gpus === "all") return "the GPUs";
  return gpus.length === 1 ? `GPU ${gpus[0] ?? ""}` : `GPUs ${list(gpus.map(String))}`;
}

/** A row holds no list of eight. */
function listed(held: readonly string[]): string {
  return held.length <= 2 ? list(held) : list([...held.slice(0, 2), `${held.length - 2} more`]);
}
