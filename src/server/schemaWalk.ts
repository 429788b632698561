import schema from "../../schemas/ml-session.schema.json";

/** The part of JSON Schema that the published schema uses. */
export interface SchemaNode {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

const root: SchemaNode = schema;

/** All schemas that a value at this path may have; alternatives are taken apart. */
export function schemasAt(path: readonly (string | number)[]): readonly SchemaNode[] {
  let nodes = alternatives(root);
  for (const key of path) nodes = nodes.flatMap((node) => inner(node, key));
  return nodes;
}

/** The description of the key that a path ends with. */
export function describe(path: readonly (string | number)[]): string | undefined {
  const key = path.at(-1);
  const parents = schemasAt(path.slice(0, -1));
  for (const parent of parents) {
    const found = typeof key === "string" ? property(parent, key) : undefined;
    if (found?.description !== undefined) return found.description;
  }
  return undefined;
}

/** A key of a schema's own, not one that its values make up (such as the names of stages). */
function property(node: SchemaNode, key: string): SchemaNode | undefined {
  return node.properties !== undefined && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
}

function inner(node: SchemaNode, key: string | number): readonly SchemaNode[] {
  const { additionalProperties: others } = node;
  const next =
    typeof key === "number" ? node.items : (property(node, key) ?? (typeof others === "object" ? others : undefined));
  return next === undefined ? [] : alternatives(next);
}

function alternatives(node: SchemaNode): readonly SchemaNode[] {
  return node.anyOf === undefined ? [node] : node.anyOf.flatMap(alternatives);
}
