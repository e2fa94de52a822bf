// `npm run gen`: writes all generated code anew. The other commands do it by
// themselves when its sources changed.
import { exitOnFailure, takesNoOptions } from './lib/run.mjs';
import { generate, setUp } from './lib/set-up.mjs';

try {
  takesNoOptions('npm run gen');
  await setUp();
  await generate({ force: true });
} catch (error) {
  exitOnFailure(error);
}
