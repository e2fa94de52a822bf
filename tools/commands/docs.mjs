// `npm run docs`: writes the OpenAPI document and the API reference anew, from
// the code that they describe.
import path from 'node:path';
import { exitOnFailure, runVisibly, takesNoOptions } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

try {
  takesNoOptions('npm run docs');
  await setUp();
  await build(['documents']);
  process.exitCode = await runVisibly(process.execPath, [path.join('dist', 'documents', 'main.js')]);
} catch (error) {
  exitOnFailure(error);
}
