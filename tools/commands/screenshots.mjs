// `npm run screenshots [-- NAME]`: a picture of every page of the dashboard, to be looked at.
import { exitOnFailure, Misused, runVisibly } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

try {
  const asked = process.argv.slice(2);
  if (asked.length > 1 || asked[0]?.startsWith('-')) {
    throw new Misused(`not the name of a page: ${asked.join(' ')}`, 'npm run screenshots [-- NAME]');
  }
  await setUp();
  await build(['gateway', 'screenshots']);
  process.exitCode = await runVisibly(process.execPath, ['dist/screenshots/main.js', ...asked]);
} catch (error) {
  exitOnFailure(error);
}
