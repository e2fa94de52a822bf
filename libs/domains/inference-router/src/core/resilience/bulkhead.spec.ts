import { Bulkheads } from './bulkhead';

describe('the bulkhead', () => {
  it('grants each slot once and releases it once', () => {
    const bulkheads = new Bulkheads();
    const of = { name: 'p', maxConcurrent: 1 };
    const release = bulkheads.enter(of);
    expect(bulkheads.enter(of)).toBeUndefined();
    release?.();
    release?.();
    expect(bulkheads.enter(of)).toBeDefined();
    expect(bulkheads.enter(of)).toBeUndefined();
    expect(bulkheads.enter({ ...of, name: 'q' })).toBeDefined();
  });
});
