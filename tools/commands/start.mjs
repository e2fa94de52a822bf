// `npm start`: installs, builds and runs the gateway in this process; works in a fresh clone.
import { createRequire } from 'node:module';
import { whenNpmEnds } from './lib/follow-npm.mjs';
import { buildIfChanged } from './lib/nx.mjs';
import { exitOnFailure, root } from './lib/run.mjs';

try {
  await buildIfChanged('gateway');
} catch (error) {
  exitOnFailure(error);
}

process.chdir(root);
process.setSourceMapsEnabled(true);
whenNpmEnds(() => process.kill(process.pid, 'SIGTERM'));
createRequire(import.meta.url)('../../dist/gateway/main.js');
