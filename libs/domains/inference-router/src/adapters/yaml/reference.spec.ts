import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { capabilities } from '../../core/catalogue/model-catalogue';
import { parseCatalogue } from './parse-catalogue';
import { catalogueSchema } from './schema';

interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly default?: unknown;
  readonly description?: string;
}

const page = readFileSync(path.resolve(__dirname, '../../../../../../docs/reference/models-yaml.md'), 'utf8');
const sectionOf = (name: string) => page.split(`## ${name}`)[1]?.split('\n## ')[0] ?? '';
const { properties = {} } = z.toJSONSchema(catalogueSchema, { io: 'input', unrepresentable: 'any' }) as Shape;

/** Each field by its path, with what the page writes behind it. */
function fieldsOf(shape: Shape, prefix = ''): readonly string[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const at = `${prefix}${name}`;
    if (field.properties) return fieldsOf(field, `${at}.`);
    const ofItems = field.items?.properties ? fieldsOf(field.items, `${at}[].`) : [];
    return [`${at} (${presenceOf(name, field, shape)})`, ...ofItems];
  });
}

function presenceOf(name: string, { default: value }: Shape, { required = [] }: Shape): string {
  if (required.includes(name)) return 'required';
  if (value === undefined) return 'optional';
  return `default ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;
}

/** The paths of fields, groups included, that have no description. */
function withoutDescription(shape: Shape, prefix = ''): readonly string[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description === undefined ? [`${prefix}${name}`] : []),
    ...withoutDescription(field, `${prefix}${name}.`),
    ...withoutDescription(field.items ?? {}, `${prefix}${name}[].`),
  ]);
}

it.each(['providers', 'models'])('describes every field of `%s`, for the forms of the dashboard', (name) =>
  expect(withoutDescription(properties[name]?.items ?? {})).toEqual([]),
);

describe('docs/reference/models-yaml.md', () => {
  it.each(['providers', 'models'])('lists every field of `%s` with its default', (name) => {
    const documented = [...sectionOf(`\`${name}\``).matchAll(/^- `([\w.[\]]+)` \((.*?)\)$/gm)].map(
      ([, field, presence = '']) => `${field} (${presence.replaceAll('`', '')})`,
    );
    expect([...documented].sort()).toEqual([...fieldsOf(properties[name]?.items ?? {})].sort());
  });

  it('says of every capability what happens without it', () => {
    const documented = [...sectionOf('Capabilities').matchAll(/^- `(\w+)`: /gm)].map(([, name]) => name);
    expect([...documented].sort()).toEqual([...capabilities].sort());
  });

  it('has a valid example', () => {
    const [, example = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    const secrets = { fromEnvironment: () => 'sk-test', fromFile: () => undefined };
    expect(parseCatalogue(example, { version: 1, variables: {}, secrets }).models.size).toBe(1);
  });
});
