// `node tools/build/chart/kubernetes-schemas.mjs SWAGGER FOLDER [DEFINITION…]`: writes JSON schemas for kubeconform from the
// OpenAPI document of Kubernetes (api/openapi-spec/swagger.json of the module k8s.io/kubernetes) and from files with
// CustomResourceDefinitions. The schemas reject unknown fields.
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
  // Some files are chart templates; their template lines are not part of the schema.
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

/** Uses the file names that kubeconform expects. */
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
  // Ports and quantities may be strings or numbers.
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
