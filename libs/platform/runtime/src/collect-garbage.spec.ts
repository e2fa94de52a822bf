import { setImmediate as nextTurn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { collectGarbage } from './collect-garbage';

it('lets go of what nobody refers to, and leaves no way to collect behind', async () => {
  const kept = new WeakRef({ large: new Array<number>(1_000).fill(1) });
  do {
    // A reference that was looked at holds for the rest of the turn, and what was
    // made while V8 already marked is taken for alive until it marks again.
    await nextTurn();
    collectGarbage();
  } while (kept.deref() !== undefined);
  // In a new context: what this one has was decided when it was made.
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
