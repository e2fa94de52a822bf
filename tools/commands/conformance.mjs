// `npm run conformance -- --base-url …`: proves the public contract of any running gateway.
import { exitOnFailure, runVisibly } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  await build(['conformance']);
  process.exitCode = await runVisibly(process.execPath, [
    'dist/conformance/main.js',
    ...process.argv.slice(2),
  ]);
} catch (error) {
  exitOnFailure(error);
}
