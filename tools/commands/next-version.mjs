// Builds what a next version of the services may look like, for tests of old replicas beside new ones.
import { buildNextVersion } from './lib/next-version.mjs';
import { exitOnFailure } from './lib/run.mjs';
import { build, CLUSTER_PROGRAMS, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  await build(CLUSTER_PROGRAMS);
  await buildNextVersion();
} catch (error) {
  exitOnFailure(error);
}
