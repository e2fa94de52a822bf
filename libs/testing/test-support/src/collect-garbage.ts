import v8 from 'node:v8';
import vm from 'node:vm';

/** Runs a full garbage collection, for tests of memory use. */
export function collectGarbage(): void {
  // Works without starting Node.js with --expose-gc.
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  v8.setFlagsFromString('--no-expose-gc');
  collect();
}
