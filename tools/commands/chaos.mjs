// `npm run chaos -- [--seed N] [--minutes M]`: breaks a cluster under load, and adds up afterwards.
import { exitOnFailure, runVisibly } from './lib/run.mjs';
import { build, CLUSTER_PROGRAMS, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  await build([...CLUSTER_PROGRAMS, 'chaos']);
  process.exitCode = await runVisibly(process.execPath, ['dist/chaos/main.js', ...process.argv.slice(2)]);
} catch (error) {
  exitOnFailure(error);
}
