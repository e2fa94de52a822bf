/** Example requests of a JSON Schema: what a client may send. A test validates each by the schema that it comes from. */

export interface JsonSchema {
  readonly type?: string;
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly format?: string;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly $ref?: string;
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: '2027-01-31',
  'date-time': '2027-01-31T12:00:00Z',
};

/** With the required fields only, with all of them, and with each optional field on its own. */
export function requestExamples(
  schema: JsonSchema,
  resolve: (ref: string) => JsonSchema,
): readonly unknown[] {
  const { properties = {}, required = [] } = resolved(schema, resolve);
  const withFields = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, resolve)]));
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const choices = [[], optional, ...optional.map((name) => [name])];
  const examples = choices.map((names) => JSON.stringify(withFields([...required, ...names])));
  return [...new Set(examples)].map((text) => JSON.parse(text) as unknown);
}

function exampleOf(given: JsonSchema, resolve: (ref: string) => JsonSchema): unknown {
  const schema = resolved(given, resolve);
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0] ?? {}, resolve);
  switch (schema.type) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {});
      return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, resolve)]));
    }
    case 'array':
      return [exampleOf(schema.items ?? {}, resolve)];
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return BY_FORMAT[schema.format ?? ''] ?? 'text';
  }
}

function resolved(schema: JsonSchema, resolve: (ref: string) => JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : resolve(schema.$ref);
}
