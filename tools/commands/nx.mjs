// `node nx.mjs ARGUMENTS`: Nx, also in a bare clone.
import { nx } from './lib/nx.mjs';
import { exitOnFailure } from './lib/run.mjs';

try {
  process.exitCode = await nx(...process.argv.slice(2));
} catch (error) {
  exitOnFailure(error);
}
