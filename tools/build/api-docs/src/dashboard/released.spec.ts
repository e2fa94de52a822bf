import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { allEndpoints, nameOf } from '@gateway/dashboard-contract';
import { createApiDocuments } from '../api-documents';
import { requestExamples, type JsonSchema } from '../examples/request-examples';
import { createDashboardDocument } from './dashboard-document';

/** What clients of the last release were promised: `node tools/commands/released-contracts.mjs` writes it. */
const released = JSON.parse(readFileSync(path.join(__dirname, '../../released.json'), 'utf8')) as {
  readonly documents: Readonly<Record<'openapi.json' | 'dashboard-openapi.json', Document>>;
};

interface Document {
  readonly paths: Readonly<
    Record<string, Record<string, { requestBody?: { content: Record<string, { schema: JsonSchema }> } }>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const library = pathToFileURL(path.join(__dirname, '../../../../commands/lib/openapi-breaking.mjs')).href;
const SCRIPT = `
import { readFileSync } from 'node:fs';
import { breakingChanges } from ${JSON.stringify(library)};
const { before, after } = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(breakingChanges(before, after)));
`;

describe.each([
  ['openapi.json', () => createApiDocuments().openApi],
  ['dashboard-openapi.json', createDashboardDocument],
] as const)('%s of the last release', (name, today) => {
  it('is still true: requests are accepted, and responses have only grown', () => {
    const input = JSON.stringify({ before: released.documents[name], after: today() });
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
      ...{ input, encoding: 'utf8', maxBuffer: 1e7 },
    });
    expect(JSON.parse(output)).toEqual([]);
  });
});

/** The example requests of a document, by endpoint. */
function examplesOf({ paths, components }: Document): readonly (readonly [string, readonly unknown[]])[] {
  const resolve = (ref: string) => components.schemas[ref.split('/').at(-1) ?? ''] ?? {};
  return Object.entries(paths).flatMap(([at, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      return schema ? [[`${method.toUpperCase()} ${at}`, requestExamples(schema, resolve)] as const] : [];
    }),
  );
}

describe('the contract of today', () => {
  const bodies = new Map(allEndpoints().map((endpoint) => [nameOf(endpoint), endpoint.body]));

  it.each(examplesOf(released.documents['dashboard-openapi.json']))(
    'accepts every request of the last release: %s',
    (endpoint, examples) => {
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        const { success = false, error } = bodies.get(endpoint)?.safeParse(example) ?? {};
        expect([example, success, error?.issues]).toEqual([example, true, undefined]);
      }
    },
  );
});
