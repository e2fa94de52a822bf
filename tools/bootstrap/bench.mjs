// `npm run bench -- [options]`: builds for production and measures.
import { exitOnFailure, runVisibly } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  const needsNoGateway = ['--tokenizer', '--history', '--organizations'].some((mode) =>
    process.argv.includes(mode),
  );
  await build(needsNoGateway ? ['bench'] : ['gateway', 'bench']);
  process.exitCode = await runVisibly(process.execPath, ['dist/bench/main.js', ...process.argv.slice(2)]);
} catch (error) {
  exitOnFailure(error);
}
