import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { allEndpoints } from '@gateway/dashboard-contract';
import { createDashboardDocument } from './dashboard-document';

const document = createDashboardDocument() as unknown as {
  readonly paths: Record<string, Record<string, { operationId: string; responses: Record<string, object> }>>;
  readonly components: { readonly schemas: Record<string, object> };
};
const text = JSON.stringify(document);

it('describes every endpoint of the contract with a unique operation ID', () => {
  const operations = Object.entries(document.paths).flatMap(([at, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${at}`),
  );
  expect(operations.sort()).toEqual(
    allEndpoints()
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  );
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(ids).toEqual([...new Set(ids)]);
});

it('has exactly the schemas that it refers to', () => {
  const referred = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
  expect([...referred].sort()).toEqual(Object.keys(document.components.schemas).sort());
});

it('documents 401 and 403 for every endpoint that needs a session or a permission', () => {
  for (const { method, path: at, access } of allEndpoints()) {
    const responses = document.paths[at]?.[method.toLowerCase()]?.responses ?? {};
    expect([at, '403' in responses]).toEqual([
      at,
      method !== 'GET' || (access !== 'anyone' && access !== 'authenticated'),
    ]);
    expect([at, '401' in responses && access !== 'anyone']).toEqual([at, access !== 'anyone']);
  }
});

it('is a valid OpenAPI document', () => {
  const linter = path.join(__dirname, '../lint-document.mjs');
  const problems = JSON.parse(
    execFileSync(process.execPath, [linter], { input: text, encoding: 'utf8' }),
  ) as string[];
  expect(problems.filter((line) => / error /.test(line))).toEqual([]);
});
