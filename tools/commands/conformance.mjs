// `npm run conformance -- --base-url …`: tests a running gateway against the public contract.
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
