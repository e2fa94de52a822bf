import { seededRandom } from '@gateway/test-support';
import { Bulkheads } from './bulkhead';

const of = (maxConcurrent: number) => ({ name: 'p', maxConcurrent });

/** Takes slots until the organization gets none. */
function takeAll(bulkheads: Bulkheads, limit: number, organization: string): number {
  let taken = 0;
  while (bulkheads.enter(of(limit), organization)) taken += 1;
  return taken;
}

describe('the bulkhead', () => {
  it('grants each slot once and releases it once', () => {
    const bulkheads = new Bulkheads();
    const release = bulkheads.enter(of(1), 'a');
    expect(bulkheads.enter(of(1), 'b')).toBeUndefined();
    release?.();
    release?.();
    expect(bulkheads.enter(of(1), 'a')).toBeDefined();
    expect(bulkheads.enter(of(1), 'b')).toBeUndefined();
    expect(bulkheads.enter({ name: 'q', maxConcurrent: 1 }, 'a')).toBeDefined();
  });

  it.each([
    [1, 1],
    [2, 2],
    [7, 7],
    [16, 14],
    [512, 448],
  ])('of %d slots, gives one organization alone %d', (limit, expected) => {
    expect(takeAll(new Bulkheads(), limit, 'a')).toBe(expected);
  });

  it.each([1, 2, 3, 5])('keeps slots for another organization while %d use all they get', (greedy) => {
    const bulkheads = new Bulkheads();
    for (let round = 0; round < 512; round += 1)
      for (let each = 0; each < greedy; each += 1) bulkheads.enter(of(512), `greedy-${each}`);
    expect(takeAll(bulkheads, 512, 'other')).toBeGreaterThanOrEqual(10);
  });

  it('refuses no request of a normal rate while another organization takes every slot it gets', () => {
    const random = seededRandom(20261128);
    const bulkheads = new Bulkheads();
    const normal: (() => void)[] = [];
    const others: (() => void)[] = [];
    for (let step = 0; step < 20_000; step += 1) {
      for (let more = 0; more < 3; more += 1) {
        const slot = bulkheads.enter(of(64), 'greedy');
        if (slot) others.push(slot);
      }
      if (random.next() < 0.02) others.shift()?.();
      if (random.next() < 0.3) {
        const slot = bulkheads.enter(of(64), 'normal');
        expect(slot).toBeDefined();
        normal.push(slot as () => void);
      }
      while (normal.length > 4) normal.shift()?.();
    }
  });
});
