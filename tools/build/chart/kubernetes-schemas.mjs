// `node tools/build/chart/kubernetes-schemas.mjs SWAGGER FOLDER [DEFINITION…]`: JSON schemas for kubeconform from Kubernetes'
// own OpenAPI document (api/openapi-spec/swagger.json of the module k8s.io/kubernetes), and from the files in which
// others define their kinds (CustomResourceDefinition). Strict: what is not described is a fault.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

const [swagger, folder, ...files] = process.argv.slice(2);
const { definitions } = JSON.parse(readFileSync(swagger, 'utf8'));
mkdirSync(folder, { recursive: true });

for (const definition of Object.values(definitions)) strict(definition);
for (const [name, definition] of Object.entries(definitions)) {
  for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
    writeSchema({ group, version, kind }, { $ref: `#/definitions/${name}`, definitions: reachable(name) });
  }
}

for (const file of files) {
  // Some are templates of a chart, too; what such lines say is nothing of the schema.
  const text = readFileSync(file, 'utf8').replaceAll(/^.*\{\{.*$/gm, '');
  for (const { spec } of parseAllDocuments(text).flatMap((document) => document.toJS() ?? [])) {
    for (const { name: version, schema } of spec.versions) {
      const described = schema.openAPIV3Schema;
      described.properties.metadata = { type: 'object' };
      strict(described);
      writeSchema({ group: spec.group, version, kind: spec.names.kind }, described);
    }
  }
}

/** By the names that kubeconform looks for. */
function writeSchema({ group, version, kind }, schema) {
  const suffix = [...(group === '' ? [] : [group.split('.')[0]]), version].join('-');
  writeFileSync(path.join(folder, `${kind}-${suffix}.json`.toLowerCase()), JSON.stringify(schema));
}

function strict(schema) {
  if (schema.properties !== undefined) {
    schema.additionalProperties ??= schema['x-kubernetes-preserve-unknown-fields'] ?? false;
    Object.values(schema.properties).forEach(strict);
  }
  if (schema.items !== undefined) strict(schema.items);
  if (typeof schema.additionalProperties === 'object') strict(schema.additionalProperties);
  // "80" and 80 are both ports; quantities are written as either, too.
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'])
    schema.type = ['string', 'integer'];
  delete schema.format;
}

function reachable(name, found = {}) {
  if (found[name] !== undefined) return found;
  found[name] = definitions[name];
  if (name.endsWith('api.resource.Quantity')) found[name] = { type: ['string', 'number'] };
  const text = JSON.stringify(definitions[name]);
  for (const [, next] of text.matchAll(/"#\/definitions\/([^"]+)"/g)) reachable(next, found);
  return found;
}
