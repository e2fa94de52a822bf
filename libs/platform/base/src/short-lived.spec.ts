import { ShortLivedMap, ShortLivedSet } from './short-lived';

describe('ShortLivedSet', () => {
  it('contains what was added and not removed', () => {
    const set = new ShortLivedSet<{ name: string }>();
    const [one, two, three] = ['one', 'two', 'three'].map((name) => ({ name })) as [
      { name: string },
      { name: string },
      { name: string },
    ];
    const removeOne = set.add(one);
    const removeTwo = set.add(two);
    expect([...set]).toEqual([one, two]);
    expect(removeOne()).toBe(true);
    const removeThree = set.add(three);
    expect(new Set(set)).toEqual(new Set([two, three]));
    expect(set.size).toBe(2);
    expect(removeOne()).toBe(false);
    expect(new Set(set)).toEqual(new Set([two, three]));
    expect([removeTwo(), removeThree(), removeThree(), set.size, [...set]]).toEqual([
      true,
      true,
      false,
      0,
      [],
    ]);
  });

  it('may be changed while it is read', () => {
    const set = new ShortLivedSet<{ remove?: () => boolean }>();
    const items = [{}, {}, {}] as { remove?: () => boolean }[];
    for (const item of items) item.remove = set.add(item);
    for (const item of set) item.remove?.();
    expect(set.size).toBe(0);
  });
});

describe('ShortLivedMap', () => {
  it('has the values that were set and not deleted', () => {
    const map = new ShortLivedMap<number, { name: string }>();
    map.set(1, { name: 'one' });
    map.set(2, { name: 'two' });
    map.set(1, { name: 'another' });
    expect([...map]).toEqual([
      [1, { name: 'another' }],
      [2, { name: 'two' }],
    ]);
    expect([map.get(1), map.get(3), map.has(2), map.has(3), map.size]).toEqual([
      { name: 'another' },
      undefined,
      true,
      false,
      2,
    ]);
    expect([map.delete(1), map.delete(1), map.get(1), map.size]).toEqual([true, false, undefined, 1]);
  });
});
