// Builds a generated next version of the services, to test rolling upgrades.
import { buildNextVersion } from './lib/next-version.mjs';
import { build, CLUSTER_PROJECTS } from './lib/nx.mjs';
import { exitOnFailure } from './lib/run.mjs';

try {
  await build(...CLUSTER_PROJECTS);
  await buildNextVersion();
} catch (error) {
  exitOnFailure(error);
}
