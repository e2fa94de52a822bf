// `npm run cluster`: every service in processes of its own, over real engines on this machine.
import { createRequire } from 'node:module';
import { whenNpmEnds } from './lib/follow-npm.mjs';
import { exitOnFailure, root } from './lib/run.mjs';
import { build, CLUSTER_PROGRAMS, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  await build(CLUSTER_PROGRAMS);
} catch (error) {
  exitOnFailure(error);
}

process.chdir(root);
process.setSourceMapsEnabled(true);
whenNpmEnds(() => process.kill(process.pid, 'SIGTERM'));
createRequire(import.meta.url)('../../dist/cluster/main.js');
