import { SecondChanceMap } from './second-chance-map';

describe('SecondChanceMap', () => {
  it('never holds more than its bound', () => {
    const map = new SecondChanceMap<number>(3);
    for (let index = 0; index < 100; index += 1) {
      map.set(String(index), index);
      map.get(String(index));
      expect(map.size).toBeLessThanOrEqual(3);
    }
    expect(map.get('99')).toBe(99);
  });

  it('keeps what is read over what is not', () => {
    const map = new SecondChanceMap<number>(2);
    map.set('popular', 1);
    for (let index = 0; index < 50; index += 1) {
      expect(map.get('popular')).toBe(1);
      map.set(`once ${index}`, index);
    }
    expect(map.get('popular')).toBe(1);
  });

  it('holds nothing with a bound of zero', () => {
    const map = new SecondChanceMap<number>(0);
    map.set('a', 1);
    expect(map.get('a')).toBeUndefined();
  });

  it('drops by value', () => {
    const map = new SecondChanceMap<number>(10);
    for (let index = 0; index < 6; index += 1) map.set(String(index), index);
    map.deleteWhere((value) => value % 2 === 0);
    expect(map.size).toBe(3);
    expect(map.get('2')).toBeUndefined();
    expect(map.get('3')).toBe(3);
  });
});
