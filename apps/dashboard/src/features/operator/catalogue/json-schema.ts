/** The parts of a JSON Schema that the forms of the catalogue use. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields with another value of one of them; undefined removes it. */
export function withField(fields: Fields, name: string, value: unknown): Fields {
  if (value !== undefined) return { ...fields, [name]: value };
  const { [name]: _removed, ...rest } = fields;
  return rest;
}

/** The path of a field, as the messages of a check write it. */
export function pathOf(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** The targets of a model, as provider/model. */
export function targetsOf({ targets }: Fields): string[] {
  if (!Array.isArray(targets)) return [];
  return targets.map((target: unknown) =>
    isFields(target) ? `${textOf(target['provider'])}/${textOf(target['model'])}` : '',
  );
}

/** A text in the draft may have any value in any field. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
