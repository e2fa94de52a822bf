// `npm run bench -- [options]`: builds for production and measures.
import { build, CLUSTER_PROJECTS } from './lib/nx.mjs';
import { exitOnFailure, runVisibly } from './lib/run.mjs';

try {
  const needsNoGateway = ['--tokenizer', '--history', '--organizations'].some((mode) =>
    process.argv.includes(mode),
  );
  const programs = process.argv.includes('--cluster') ? ['gateway', ...CLUSTER_PROJECTS] : ['gateway'];
  await build(...(needsNoGateway ? [] : programs), 'bench');
  process.exitCode = await runVisibly(process.execPath, ['dist/bench/main.js', ...process.argv.slice(2)]);
} catch (error) {
  exitOnFailure(error);
}
