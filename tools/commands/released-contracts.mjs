// `node tools/commands/released-contracts.mjs`: after a release, records the OpenAPI documents as those of the release. Later
// versions must stay compatible with them (tools/build/api-docs/src/dashboard/released.spec.ts).
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { exitOnFailure, rejectOptions, root } from './lib/run.mjs';

const DOCUMENTS = ['openapi.json', 'dashboard-openapi.json'];
const FILE = 'tools/build/api-docs/released.json';
/** What no client depends on. */
const PROSE = new Set(['description', 'summary', 'tags', 'security', 'headers']);

/** A document without its prose and its error responses, which share one schema. */
function contractOf({ paths, components: { schemas } }) {
  const operations = Object.entries(paths).map(([at, methods]) => [
    at,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, withoutErrors(operation)]),
    ),
  ]);
  return withoutProse({ paths: Object.fromEntries(operations), components: { schemas } });
}

function withoutErrors({ responses, ...operation }) {
  const kept = Object.entries(responses ?? {}).filter(([status]) => status < '4');
  return {
    ...operation,
    responses: Object.fromEntries(kept.map(([status, response]) => [status, withoutExamples(response)])),
  };
}

function withoutExamples({ content = {}, ...response }) {
  const schemas = Object.entries(content).map(([type, { schema }]) => [type, { ...(schema && { schema }) }]);
  return { ...response, content: Object.fromEntries(schemas) };
}

/** The keys of `properties` are names of fields. */
function withoutProse(value, areNames = false) {
  if (Array.isArray(value)) return value.map((each) => withoutProse(each));
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([key]) => areNames || !PROSE.has(key));
  return Object.fromEntries(
    kept.map(([key, each]) => [key, withoutProse(each, key === 'properties' && !areNames)]),
  );
}

try {
  rejectOptions('node tools/commands/released-contracts.mjs');
  const read = (file) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const documents = DOCUMENTS.map((name) => [name, contractOf(read(`docs/reference/${name}`))]);
  const { version } = read('package.json');
  const text = JSON.stringify({ version, documents: Object.fromEntries(documents) });
  writeFileSync(path.join(root, FILE), `${text}\n`);
  process.stdout.write(`${FILE}: ${version}\n`);
} catch (error) {
  exitOnFailure(error);
}
