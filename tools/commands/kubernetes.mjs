// `npm run kubernetes -- --context NAME`: installs the chart's demo on a cluster and verifies it step by step.
import { build } from './lib/nx.mjs';
import { exitOnFailure, runVisibly } from './lib/run.mjs';

try {
  await build('kubernetes', 'e2e');
  process.exitCode = await runVisibly(process.execPath, [
    'dist/kubernetes/main.js',
    ...process.argv.slice(2),
  ]);
} catch (error) {
  exitOnFailure(error);
}
