// Builds what a next version of the services may look like, for tests of old replicas beside new ones.
import { buildNextVersion } from './lib/next-version.mjs';
import { build, CLUSTER_PROJECTS } from './lib/nx.mjs';
import { exitOnFailure } from './lib/run.mjs';

try {
  await build(...CLUSTER_PROJECTS);
  await buildNextVersion();
} catch (error) {
  exitOnFailure(error);
}
