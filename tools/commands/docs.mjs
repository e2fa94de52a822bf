// `npm run docs`: writes the OpenAPI document and the API reference anew, from
// the code that they describe.
import path from 'node:path';
import { build } from './lib/nx.mjs';
import { exitOnFailure, runVisibly, takesNoOptions } from './lib/run.mjs';

try {
  takesNoOptions('npm run docs');
  await build('@gateway/api-docs');
  process.exitCode = await runVisibly(process.execPath, [path.join('dist', 'documents', 'main.js')]);
} catch (error) {
  exitOnFailure(error);
}
