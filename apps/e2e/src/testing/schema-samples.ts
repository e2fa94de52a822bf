/** The parts of JSON Schema in the OpenAPI document of the public API. */
export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly ApiSchema[];
  readonly items?: ApiSchema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
}

/**
 * Values that show each shape of a schema at least once: every variant, every value of an enumeration, both bounds of a
 * number, and every optional property, one at a time.
 *
 * @param texts for strings with a pattern; the first that matches is used.
 */
export class SchemaSamples {
  constructor(
    private readonly document: unknown,
    private readonly texts: readonly string[],
  ) {}

  of(written: ApiSchema): readonly unknown[] {
    const schema = this.resolve(written);
    if (schema.const !== undefined) return [schema.const];
    if (schema.enum) return schema.enum;
    if (schema.oneOf) return schema.oneOf.flatMap((each) => this.of(each));
    switch (schema.type) {
      case 'null':
        return [null];
      case 'boolean':
        return [true, false];
      case 'integer':
      case 'number':
        return [schema.minimum ?? 1, Math.min(schema.maximum ?? 2, 2)];
      case 'string':
        return [this.text(schema)];
      case 'array':
        return [
          ...(schema.minItems === undefined ? [[]] : []),
          ...this.of(schema.items ?? {}).map((item) => [item]),
        ];
      default:
        return this.objects(schema);
    }
  }

  private objects({ properties = {}, required = [] }: ApiSchema): readonly object[] {
    const samples = Object.entries(properties).map(([name, schema]) => [name, this.of(schema)] as const);
    const base = Object.fromEntries(
      samples.filter(([name]) => required.includes(name)).map(([name, [first]]) => [name, first]),
    );
    const changed = samples.flatMap(([name, values]) => values.map((value) => ({ ...base, [name]: value })));
    return [base, ...changed];
  }

  private text({ pattern }: ApiSchema): string {
    const found = this.texts.find((text) => pattern === undefined || new RegExp(pattern).test(text));
    if (found === undefined) throw new Error(`no text matches ${pattern}`);
    return found;
  }

  private resolve(schema: ApiSchema): ApiSchema {
    if (schema.$ref === undefined) return schema;
    let found: unknown = this.document;
    for (const step of schema.$ref.split('/').slice(1)) found = (found as Record<string, unknown>)[step];
    return this.resolve(found as ApiSchema);
  }
}
