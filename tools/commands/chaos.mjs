// `npm run chaos -- [--seed N] [--minutes M]`: injects faults into a cluster under load, then audits the ledger.
import { build, CLUSTER_PROJECTS } from './lib/nx.mjs';
import { exitOnFailure, runVisibly } from './lib/run.mjs';

try {
  await build(...CLUSTER_PROJECTS, 'chaos');
  process.exitCode = await runVisibly(process.execPath, ['dist/chaos/main.js', ...process.argv.slice(2)]);
} catch (error) {
  exitOnFailure(error);
}
