// `npm run cluster`: every service in its own processes, on this machine, with PostgreSQL, Redis and Kafka.
import { createRequire } from 'node:module';
import { whenNpmEnds } from './lib/follow-npm.mjs';
import { build, CLUSTER_PROJECTS } from './lib/nx.mjs';
import { exitOnFailure, root } from './lib/run.mjs';

try {
  await build(...CLUSTER_PROJECTS);
} catch (error) {
  exitOnFailure(error);
}

process.chdir(root);
process.setSourceMapsEnabled(true);
whenNpmEnds(() => process.kill(process.pid, 'SIGTERM'));
createRequire(import.meta.url)('../../dist/cluster/main.js');
