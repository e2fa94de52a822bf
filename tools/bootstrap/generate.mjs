// `npm run gen` writes all generated code anew; with --check it fails when the
// committed part of it was not what the generators make of today's sources.
import { say } from './lib/console.mjs';
import { exitOnFailure, StepFailed } from './lib/run.mjs';
import { filesUnder, hashFiles } from './lib/stamps.mjs';
import { generate, setUp } from './lib/set-up.mjs';

const committed = () =>
  hashFiles(filesUnder(['libs/contracts/src/generated'], (file) => file.endsWith('.ts')));

try {
  const before = committed();
  if (process.argv.includes('--check')) {
    await generate({ force: true });
    if (committed() !== before) {
      throw new StepFailed('Generated code was out of date. It is now renewed: commit it.');
    }
    say('Generated code is up to date.');
  } else {
    await setUp();
    await generate({ force: true });
  }
} catch (error) {
  exitOnFailure(error);
}
