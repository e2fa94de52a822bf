// `node nx.mjs ARGUMENTS`: runs Nx; works in a fresh clone.
import { nx } from './lib/nx.mjs';
import { exitOnFailure } from './lib/run.mjs';

try {
  process.exitCode = await nx(...process.argv.slice(2));
} catch (error) {
  exitOnFailure(error);
}
