// `npm run build`: bundles every program to dist/.
import { exitOnFailure, takesNoOptions } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

try {
  takesNoOptions('npm run build');
  await setUp();
  await build(['gateway', 'model-emulator', 'bench']);
} catch (error) {
  exitOnFailure(error);
}
