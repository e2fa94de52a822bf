// `npm run models -- add PROVIDER/MODEL | diff`: writes entries of models.yaml from published prices, or compares them.
import { build } from './lib/nx.mjs';
import { exitOnFailure, runVisibly } from './lib/run.mjs';

/** 1 reports different prices. */
const FAILED = 2;

try {
  await build('models');
  process.exitCode = await runVisibly(process.execPath, ['dist/models/main.js', ...process.argv.slice(2)]);
} catch (error) {
  exitOnFailure(error, FAILED);
}
