import { asObject, type JsonObject } from '../completion/json';

/** How often a definition may occur within itself: once more than its first use. */
const MAX_USES_ON_PATH = 2;
/** Definitions that refer to each other many times grow exponentially. */
const MAX_NODES = 5_000;

/**
 * Replaces references that stand next to other keywords, and recursive ones, by their definitions. A recursive definition ends after one level with
 * its type alone. A schema that would become too large keeps its references, each alone in an `anyOf`.
 */
export function withoutReferences(schema: JsonObject): JsonObject {
  if (!JSON.stringify(schema).includes('"$ref":')) return schema;
  if (!hasReferenceWithOthers(schema) && !isRecursive(schema)) return schema;
  const references = new References(schema);
  const inlined = references.inline(schema, []);
  if (!references.isTooLarge) return inlined as JsonObject;
  return withReferencesAlone(withoutRequiredCycles(schema, cyclicReferences(schema))) as JsonObject;
}

/** An `allOf` is not a keyword of the vendor. */
function hasReferenceWithOthers(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasReferenceWithOthers);
  const schema = asObject(value);
  if (!schema) return false;
  const isReference = typeof schema['$ref'] === 'string';
  const hasOthers = Object.keys(schema).some((name) => !name.startsWith('$'));
  if ((isReference && hasOthers) || Array.isArray(schema['allOf'])) return true;
  return Object.values(schema).some(hasReferenceWithOthers);
}

/** Whether a definition contains itself. */
export function isRecursive(schema: JsonObject): boolean {
  const references = new References(schema);
  references.inline(schema, []);
  return references.foundCycle;
}

class References {
  foundCycle = false;
  private nodes = 0;

  constructor(private readonly root: JsonObject) {}

  get isTooLarge(): boolean {
    return this.nodes > MAX_NODES;
  }

  /** @param path the references that led here. */
  inline(value: unknown, path: readonly string[]): unknown {
    this.nodes += 1;
    if (this.isTooLarge) return undefined;
    if (Array.isArray(value)) return value.map((item: unknown) => this.inline(item, path));
    const schema = asObject(value);
    if (!schema) return value;
    const fields = withoutSingleAllOf(schema === this.root ? withoutDefinitions(schema) : schema);
    const { $ref: reference, ...others } = fields;
    if (typeof reference === 'string') return this.follow(reference, others, path);
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, this.inline(field, path)] as const),
    );
  }

  private follow(reference: string, others: JsonObject, path: readonly string[]): unknown {
    const target = withoutDefinitions(resolveReference(this.root, reference) ?? {});
    const siblings = withoutDefinitions(others);
    const uses = path.filter((each) => each === reference).length;
    if (uses > 0) this.foundCycle = true;
    if (uses < MAX_USES_ON_PATH) return this.inline({ ...target, ...siblings }, [...path, reference]);
    const { type } = target;
    return { ...(type === undefined ? {} : { type }), ...siblings };
  }
}

function withoutDefinitions(schema: JsonObject): JsonObject {
  const { $defs: _, definitions: __, ...rest } = schema;
  return rest;
}

/** An `allOf` of one schema, as pydantic writes it, is that schema. */
function withoutSingleAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  const only = Array.isArray(allOf) && allOf.length === 1 ? asObject(allOf[0]) : undefined;
  return only ? { ...only, ...rest } : schema;
}

/** The references whose definitions contain themselves. */
function cyclicReferences(root: JsonObject): ReadonlySet<string> {
  const next = new Map<string, readonly string[]>();
  for (const reference of referencesIn(root))
    next.set(reference, referencesIn(resolveReference(root, reference)));
  const reachable = (from: string): ReadonlySet<string> => {
    const found = new Set(next.get(from));
    for (const each of found) for (const further of next.get(each) ?? []) found.add(further);
    return found;
  };
  return new Set([...next.keys()].filter((reference) => reachable(reference).has(reference)));
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  const schema = asObject(value);
  if (!schema) return [];
  const { $ref: reference } = schema;
  const nested = Object.values(schema).flatMap(referencesIn);
  return typeof reference === 'string' ? [reference, ...nested] : nested;
}

/** The vendor accepts cyclic references within properties that are not required only. */
function withoutRequiredCycles(value: unknown, cyclic: ReadonlySet<string>): unknown {
  if (cyclic.size === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withoutRequiredCycles(item, cyclic));
  const schema = asObject(value);
  if (!schema) return value;
  const fields = Object.fromEntries(
    Object.entries(schema).map(([name, field]) => [name, withoutRequiredCycles(field, cyclic)] as const),
  );
  const { required } = schema;
  const properties = asObject(schema['properties']);
  if (!Array.isArray(required) || !properties) return fields;
  const isCyclic = (name: unknown) =>
    referencesIn(properties[String(name)]).some((reference) => cyclic.has(reference));
  return { ...fields, required: required.filter((name) => !isCyclic(name)) };
}

/** Follows a JSON pointer within the schema. */
export function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const name = step.replaceAll('%20', ' ').replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return asObject(found);
}

function withReferencesAlone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReferencesAlone);
  const schema = asObject(value);
  if (!schema) return value;
  const entries = Object.entries(schema).map(([name, field]) => [name, withReferencesAlone(field)] as const);
  const { $ref: reference, ...others } = Object.fromEntries(entries) as Record<string, unknown>;
  if (typeof reference !== 'string' || Object.keys(others).every((name) => name.startsWith('$')))
    return Object.fromEntries(entries);
  return { ...others, anyOf: [{ $ref: reference }] };
}
