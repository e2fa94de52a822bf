// `npm run bench -- [COMMAND] [OPTIONS]`: builds for production and measures.
import { build, CLUSTER_PROJECTS } from './lib/nx.mjs';
import { exitOnFailure, runVisibly } from './lib/run.mjs';

/** What each command measures; the others measure the gateway. */
const PROJECTS = { ledger: [], history: [], cluster: ['gateway', ...CLUSTER_PROJECTS] };

try {
  const command = Object.keys(PROJECTS).find((name) => process.argv.includes(name));
  await build(...(PROJECTS[command] ?? ['gateway']), 'bench');
  process.exitCode = await runVisibly(process.execPath, ['dist/bench/main.js', ...process.argv.slice(2)]);
} catch (error) {
  exitOnFailure(error);
}
