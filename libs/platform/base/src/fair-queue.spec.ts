import { FairQueue } from './fair-queue';

function takeAll(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

const LARGE = { maxPerOwner: 100, maxTotal: 1_000 };

it('alternates between owners', () => {
  const queue = new FairQueue<string>(LARGE);
  for (let number = 1; number <= 4; number += 1) queue.add('a', `a${number}`);
  queue.add('b', 'b1');
  queue.add('c', 'c1');
  queue.add('c', 'c2');
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  expect(queue.size).toBe(0);
});

it('puts an owner with a new item behind the queued owners', () => {
  const queue = new FairQueue<string>(LARGE);
  queue.add('a', 'a1');
  queue.add('b', 'b1');
  expect(queue.take()).toBe('a1');
  queue.add('a', 'a2');
  expect(takeAll(queue)).toEqual(['b1', 'a2']);
});

it('is bounded per owner and in total', () => {
  const queue = new FairQueue<string>({ maxPerOwner: 2, maxTotal: 3 });
  expect([queue.add('a', 'a1'), queue.add('a', 'a2'), queue.add('a', 'a3')]).toEqual([true, true, false]);
  expect([queue.add('b', 'b1'), queue.add('c', 'c1')]).toEqual([true, false]);
  queue.take();
  expect(queue.add('c', 'c1')).toBe(true);
  expect(takeAll(queue)).toEqual(['b1', 'a2', 'c1']);
});

it('frees the place of a removed item once', () => {
  const queue = new FairQueue<string>({ maxPerOwner: 1, maxTotal: 1 });
  queue.add('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('b', 'a1');
  expect(queue.size).toBe(0);
  expect(queue.add('b', 'b1')).toBe(true);
  expect(takeAll(queue)).toEqual(['b1']);
});
