// `node copy-documents.mjs FOLDER`: copies the OpenAPI document and Swagger UI, which the dashboard's port serves.
import { cpSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');
const DOCUMENTS = {
  'openapi.json': 'docs/reference/openapi.json',
  'swagger-ui-bundle.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'swagger-ui-LICENSE': 'node_modules/swagger-ui-dist/LICENSE',
  'swagger-ui-bundle.js.LICENSE.txt': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui-NOTICE': 'node_modules/swagger-ui-dist/NOTICE',
};

const [folder] = process.argv.slice(2);
for (const [name, source] of Object.entries(DOCUMENTS)) {
  cpSync(path.join(root, source), path.join(root, folder, 'documents', name));
}
