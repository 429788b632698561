import type { Disposable } from "../core/lifecycle";
import type { Clock } from "../core/ports";
import { gpuRows } from "../core/session/gpuRows";
import type { SessionReader } from "../core/session/store";
import { registerRowTree } from "./shared/rowTree";

/** The GPUs view (`mlSession.gpus`): what each GPU does, or why that is not known. */
export function registerGpusTree(deps: { readonly sessions: SessionReader; readonly clock: Clock }): Disposable {
  return registerRowTree({ ...deps, viewId: "mlSession.gpus", build: gpuRows });
}
