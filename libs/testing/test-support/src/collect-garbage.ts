import v8 from 'node:v8';
import vm from 'node:vm';

/** Collects all garbage of this process, for tests of what stays in memory. */
export function collectGarbage(): void {
  // Without a flag of its own, Node offers no other way.
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  v8.setFlagsFromString('--no-expose-gc');
  collect();
}
