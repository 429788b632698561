/**
 * What a row of a view stands for; commands get it as their first argument. Names, not objects: what a row shows is
 * looked up in the store when the command runs.
 */
export type TreeNode =
  | { readonly kind: "session"; readonly session: string }
  | { readonly kind: "host"; readonly session: string; readonly host: string }
  | { readonly kind: "stage"; readonly session: string; readonly stage: string; readonly member?: string }
  | { readonly kind: "service"; readonly session: string; readonly service: string }
  | { readonly kind: "gpu"; readonly session: string; readonly host: string; readonly index: number };

/** A stable id for the node, unique over all kinds; survives reloads, so that selection and folding do. */
export function nodeId(node: TreeNode): string {
  return parts(node).map(encodeURIComponent).join("/");
}

function parts(node: TreeNode): readonly string[] {
  switch (node.kind) {
    case "session":
      return [node.session];
    case "host":
      return [node.session, "host", node.host];
    case "gpu":
      return [node.session, "host", node.host, "gpu", String(node.index)];
    case "service":
      return [node.session, "service", node.service];
    case "stage":
      return [node.session, "stage", node.stage, ...(node.member === undefined ? [] : [node.member])];
  }
}
