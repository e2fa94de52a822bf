import v8 from 'node:v8';
import vm from 'node:vm';

/**
 * Collects all garbage of this process, which stops it for some 30 ms. For the
 * end of a start: most that it made is of no use any more, and V8 looks for that
 * only when more is asked for, which may be hours later.
 */
export function collectGarbage(): void {
  // Node has no other way to it without a flag of its own.
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  v8.setFlagsFromString('--no-expose-gc');
  collect();
}
