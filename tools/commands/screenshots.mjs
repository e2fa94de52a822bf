// `npm run screenshots [-- NAME]`: takes a screenshot of every page of the dashboard.
import { build } from './lib/nx.mjs';
import { exitOnFailure, Misused, runVisibly } from './lib/run.mjs';

try {
  const names = process.argv.slice(2);
  if (names.length > 1 || names[0]?.startsWith('-')) {
    throw new Misused(`not a page name: '${names.join(' ')}'`, 'npm run screenshots [-- NAME]');
  }
  await build('gateway', 'e2e');
  process.exitCode = await runVisibly(process.execPath, ['dist/screenshots/main.js', ...names]);
} catch (error) {
  exitOnFailure(error);
}
