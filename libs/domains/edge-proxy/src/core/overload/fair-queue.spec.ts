import { FairQueue } from './fair-queue';

function takeAll(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

const ROOMY = { maxPerOwner: 100, maxInAll: 1_000 };

it('an owner with many waits for the others after each of its own', () => {
  const queue = new FairQueue<string>(ROOMY);
  for (let number = 1; number <= 4; number += 1) queue.add('a', `a${number}`);
  queue.add('b', 'b1');
  queue.add('c', 'c1');
  queue.add('c', 'c2');
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  expect(queue.size).toBe(0);
});

it('an owner that comes back does not come before those that wait', () => {
  const queue = new FairQueue<string>(ROOMY);
  queue.add('a', 'a1');
  queue.add('b', 'b1');
  expect(queue.take()).toBe('a1');
  queue.add('a', 'a2');
  expect(takeAll(queue)).toEqual(['b1', 'a2']);
});

it('neither one owner nor all together may have more than the limits', () => {
  const queue = new FairQueue<string>({ maxPerOwner: 2, maxInAll: 3 });
  expect([queue.add('a', 'a1'), queue.add('a', 'a2'), queue.add('a', 'a3')]).toEqual([true, true, false]);
  expect([queue.add('b', 'b1'), queue.add('c', 'c1')]).toEqual([true, false]);
  queue.take();
  expect(queue.add('c', 'c1')).toBe(true);
  expect(takeAll(queue)).toEqual(['b1', 'a2', 'c1']);
});

it('what is removed frees its place, once', () => {
  const queue = new FairQueue<string>({ maxPerOwner: 1, maxInAll: 1 });
  queue.add('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('b', 'a1');
  expect(queue.size).toBe(0);
  expect(queue.add('b', 'b1')).toBe(true);
  expect(takeAll(queue)).toEqual(['b1']);
});
