import { FreshLookupCoalescer } from './fresh-lookup-coalescer';

/** Lookups that the test completes; each returns its number. */
function createService() {
  const open: { succeed: () => void; fail: () => void }[] = [];
  let started = 0;
  return {
    run: () => {
      const number = (started += 1);
      return new Promise<number>((resolve, reject) => {
        open.push({ succeed: () => resolve(number), fail: () => reject(new Error(`no ${number}`)) });
      });
    },
    started: () => started,
    async succeed() {
      open.shift()?.succeed();
      await new Promise((resolve) => setImmediate(resolve));
    },
    async fail() {
      open.shift()?.fail();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('runs two lookups for a thousand concurrent callers: one for the first, one for all later ones', async () => {
  const service = createService();
  const lookups = new FreshLookupCoalescer<number>();
  const all = Array.from({ length: 1_000 }, () => lookups.lookup('a', service.run));
  expect(service.started()).toBe(1);
  await service.succeed();
  expect(service.started()).toBe(2);
  await service.succeed();
  expect(await Promise.all(all)).toEqual([1, ...Array.from({ length: 999 }, () => 2)]);
});

it('never returns the result of a lookup that started before the call', async () => {
  const service = createService();
  const lookups = new FreshLookupCoalescer<number>();
  const first = lookups.lookup('a', service.run);
  const second = lookups.lookup('a', service.run);
  await service.succeed();
  // The second lookup is in flight now.
  const third = lookups.lookup('a', service.run);
  await service.succeed();
  await service.succeed();
  expect(await Promise.all([first, second, third])).toEqual([1, 2, 3]);
});

it('caches no result, and rejects no caller with the error of an earlier lookup', async () => {
  const service = createService();
  const lookups = new FreshLookupCoalescer<number>();
  const failed = lookups.lookup('a', service.run);
  const next = lookups.lookup('a', service.run);
  await Promise.all([service.fail(), expect(failed).rejects.toThrow('no 1')]);
  await service.succeed();
  expect(await next).toBe(2);
  const later = lookups.lookup('a', service.run);
  expect(service.started()).toBe(3);
  await service.succeed();
  expect(await later).toBe(3);
});

it('looks up each key separately', async () => {
  const service = createService();
  const lookups = new FreshLookupCoalescer<number>();
  const both = Promise.all([lookups.lookup('a', service.run), lookups.lookup('b', service.run)]);
  expect(service.started()).toBe(2);
  await service.succeed();
  await service.succeed();
  expect(await both).toEqual([1, 2]);
});
