// `npm run conformance -- --base-url …`: proves the public contract of any running gateway.
import { build } from './lib/nx.mjs';
import { exitOnFailure, runVisibly } from './lib/run.mjs';

try {
  await build('e2e');
  process.exitCode = await runVisibly(process.execPath, [
    'dist/conformance/main.js',
    ...process.argv.slice(2),
  ]);
} catch (error) {
  exitOnFailure(error);
}
