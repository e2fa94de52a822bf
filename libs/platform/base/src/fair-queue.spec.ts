import { FairQueue } from './fair-queue';

function takeAll(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

const displaced: string[] = [];
const onDisplaced = (item: string) => void displaced.push(item);
const LARGE = { maxPerOwner: 100, maxTotal: 1_000, onDisplaced };

beforeEach(() => {
  displaced.length = 0;
});

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
  const queue = new FairQueue<string>({ maxPerOwner: 2, maxTotal: 3, onDisplaced });
  expect([queue.add('a', 'a1'), queue.add('a', 'a2'), queue.add('a', 'a3')]).toEqual([true, true, false]);
  expect([queue.add('b', 'b1'), queue.add('b', 'b2')]).toEqual([true, false]);
  queue.take();
  expect(queue.add('c', 'c1')).toBe(true);
  expect(takeAll(queue)).toEqual(['b1', 'a2', 'c1']);
});

it('gives the place of the newest item of the owner with the most to an owner with fewer', () => {
  const queue = new FairQueue<string>({ maxPerOwner: 10, maxTotal: 5, onDisplaced });
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) queue.add(item.charAt(0), item);
  expect([queue.add('c', 'c1'), queue.add('c', 'c2'), queue.add('a', 'a4')]).toEqual([true, false, false]);
  expect(displaced).toEqual(['a3']);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
});

it('an owner at a normal rate loses no place while another one fills the queue', () => {
  const queue = new FairQueue<string>({ maxPerOwner: 50, maxTotal: 50, onDisplaced });
  for (let round = 0; round < 200; round += 1) {
    for (let more = 0; more < 20; more += 1) queue.add('greedy', `g${round}`);
    expect(queue.add('normal', `n${round}`)).toBe(true);
    queue.take();
    queue.take();
  }
  expect(displaced.filter((item) => item.startsWith('n'))).toEqual([]);
});

it('frees the place of a removed item once', () => {
  const queue = new FairQueue<string>({ maxPerOwner: 1, maxTotal: 1, onDisplaced });
  queue.add('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('b', 'a1');
  expect(queue.size).toBe(0);
  expect(queue.add('b', 'b1')).toBe(true);
  expect(takeAll(queue)).toEqual(['b1']);
});
