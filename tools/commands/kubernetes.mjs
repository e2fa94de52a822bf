// `npm run kubernetes`: the chart's demo on a real Kubernetes of one node, on this machine.
import { exitOnFailure, runVisibly } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  await build(['kubernetes', 'conformance']);
  process.exitCode = await runVisibly(process.execPath, [
    'dist/kubernetes/main.js',
    ...process.argv.slice(2),
  ]);
} catch (error) {
  exitOnFailure(error);
}
