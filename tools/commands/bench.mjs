// `npm run bench -- [options]`: builds for production and measures.
import { exitOnFailure, runVisibly } from './lib/run.mjs';
import { build, CLUSTER_PROGRAMS, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  const needsNoGateway = ['--tokenizer', '--history', '--organizations'].some((mode) =>
    process.argv.includes(mode),
  );
  const programs = process.argv.includes('--cluster') ? ['gateway', ...CLUSTER_PROGRAMS] : ['gateway'];
  await build(needsNoGateway ? ['bench'] : [...programs, 'bench']);
  process.exitCode = await runVisibly(process.execPath, ['dist/bench/main.js', ...process.argv.slice(2)]);
} catch (error) {
  exitOnFailure(error);
}
