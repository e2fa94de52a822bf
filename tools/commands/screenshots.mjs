// `npm run screenshots [-- NAME]`: a picture of every page of the dashboard, to be looked at.
import { build } from './lib/nx.mjs';
import { exitOnFailure, Misused, runVisibly } from './lib/run.mjs';

try {
  const asked = process.argv.slice(2);
  if (asked.length > 1 || asked[0]?.startsWith('-')) {
    throw new Misused(`not the name of a page: ${asked.join(' ')}`, 'npm run screenshots [-- NAME]');
  }
  await build('gateway', 'e2e');
  process.exitCode = await runVisibly(process.execPath, ['dist/screenshots/main.js', ...asked]);
} catch (error) {
  exitOnFailure(error);
}
