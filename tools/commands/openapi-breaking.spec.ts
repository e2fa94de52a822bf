import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const FILE = path.join(__dirname, '../../docs/reference/dashboard-openapi.json');

interface Schema {
  type?: string;
  anyOf?: Schema[];
  enum?: string[];
  $ref?: string;
  required?: string[];
  properties?: Record<string, Schema>;
}
interface Document {
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, Schema> };
}

const read = () => JSON.parse(readFileSync(FILE, 'utf8')) as Document;

const SCRIPT = `
import { readFileSync } from 'node:fs';
import { breakingChanges } from ${JSON.stringify(pathToFileURL(path.join(__dirname, 'lib/openapi-breaking.mjs')).href)};
const { before, after } = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(breakingChanges(before, after)));
`;

/** The breaking changes of a document that `change` has changed. */
function changesOf(change: (document: Document) => void): readonly string[] {
  const after = read();
  change(after);
  const input = JSON.stringify({ before: read(), after });
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    ...{ input, encoding: 'utf8', maxBuffer: 1e7 },
  });
  return JSON.parse(output) as string[];
}

const schemaOf = (document: Document, name: string) => document.components.schemas[name] as Schema;
const PATH = '/api/organizations/{organization_id}/keys';
const bodyOf = (document: Document) => {
  const { requestBody } = document.paths[PATH]?.['post'] as {
    requestBody: { content: Record<string, { schema: Schema }> };
  };
  const { schema } = requestBody.content['application/json'] as { schema: Schema };
  return schema.$ref === undefined ? schema : schemaOf(document, schema.$ref.split('/').at(-1) ?? '');
};

it('a document is compatible with itself, and with one that has more', () => {
  expect(changesOf(() => undefined)).toEqual([]);
  const more = (document: Document) => {
    document.paths['/api/more'] = { get: { responses: {} } };
    schemaOf(document, 'Key').properties = { ...schemaOf(document, 'Key').properties, more: {} };
    bodyOf(document).properties = { ...bodyOf(document).properties, more: {} };
  };
  expect(changesOf(more)).toEqual([]);
});

it.each<[string, (document: Document) => void, RegExp]>([
  ['an endpoint', (document) => delete document.paths[PATH]?.['get'], /^GET .*\/keys is missing$/],
  [
    'a field of a response',
    (document) => delete schemaOf(document, 'Key').properties?.['last4'],
    /last4 is missing/,
  ],
  [
    'a field of a request',
    (document) => delete bodyOf(document).properties?.['name'],
    /body\.name is missing/,
  ],
  [
    'a value of a request',
    (document) => {
      const scope = bodyOf(document).properties?.['scopes'] as { items: Schema };
      scope.items.enum = scope.items.enum?.slice(1);
    },
    /does not accept/,
  ],
])('%s that is missing is found', (_what, change, message) => {
  expect(changesOf(change)).toContainEqual(expect.stringMatching(message));
});

it('a field that a request must have from now on is found, and one of a response that may be absent', () => {
  const required = changesOf((document) => bodyOf(document).required?.push('project_id'));
  expect(required).toContainEqual(expect.stringMatching(/body\.project_id became required/));
  const absent = changesOf((document) => {
    schemaOf(document, 'Key').required = ['id'];
  });
  expect(absent).toContainEqual(expect.stringMatching(/\.name may be absent/));
});

it('a field that may be null from now on is compatible in a request, and found in a response', () => {
  const orNull = (schema: Schema | undefined): Schema => ({ anyOf: [{ ...schema }, { type: 'null' }] });
  const nullable = (properties: Record<string, Schema> | undefined) => ({
    ...properties,
    name: orNull(properties?.['name']),
  });
  const inRequest = (document: Document) => {
    bodyOf(document).properties = nullable(bodyOf(document).properties);
  };
  expect(changesOf(inRequest)).toEqual([]);
  const inResponse = changesOf((document) => {
    schemaOf(document, 'Key').properties = nullable(schemaOf(document, 'Key').properties);
  });
  expect(inResponse).toContainEqual(expect.stringMatching(/\.name has another type/));
});

it('an option of a request that is no longer accepted is found', () => {
  const changes = changesOf((document) => {
    const { concurrency } = bodyOf(document).properties as Record<string, Schema>;
    if (concurrency?.anyOf) concurrency.anyOf = concurrency.anyOf.filter(({ type }) => type !== 'null');
  });
  expect(changes).toContainEqual(expect.stringMatching(/body\.concurrency has another type/));
});

it('a field of another type is found', () => {
  const changes = changesOf((document) => {
    schemaOf(document, 'Key').properties = {
      ...schemaOf(document, 'Key').properties,
      name: { type: 'integer' },
    };
  });
  expect(changes).toContainEqual(expect.stringMatching(/name has another type/));
});
