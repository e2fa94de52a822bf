import { collectGarbage } from './collect-garbage';

it('lets go of what nobody refers to, and leaves no way to collect behind', () => {
  const kept = new WeakRef({ large: new Array<number>(1_000).fill(1) });
  return new Promise<void>((resolve) => {
    // What a reference was asked for stays for as long as the turn lasts.
    setImmediate(() => {
      collectGarbage();
      expect(kept.deref()).toBeUndefined();
      expect(globalThis.gc).toBeUndefined();
      resolve();
    });
  });
});
