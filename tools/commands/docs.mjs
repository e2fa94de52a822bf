// `npm run docs`: generates the reference documentation (docs/reference) and the files of the chart from the code.
import path from 'node:path';
import { build } from './lib/nx.mjs';
import { exitOnFailure, runVisibly, rejectOptions } from './lib/run.mjs';

try {
  rejectOptions('npm run docs');
  await build('@gateway/api-docs');
  const generators = [path.join('dist', 'documents', 'main.js'), path.join('tools', 'commands', 'chart.mjs')];
  for (const generator of generators) process.exitCode ||= await runVisibly(process.execPath, [generator]);
} catch (error) {
  exitOnFailure(error);
}
