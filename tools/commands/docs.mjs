// `npm run docs`: generates the OpenAPI document and the API reference from the code.
import path from 'node:path';
import { build } from './lib/nx.mjs';
import { exitOnFailure, runVisibly, rejectOptions } from './lib/run.mjs';

try {
  rejectOptions('npm run docs');
  await build('@gateway/api-docs');
  process.exitCode = await runVisibly(process.execPath, [path.join('dist', 'documents', 'main.js')]);
} catch (error) {
  exitOnFailure(error);
}
