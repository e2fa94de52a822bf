import { RecentNames } from './recent-names';

test('remembers what was added', () => {
  const names = new RecentNames(10);
  names.add('a');
  expect([names.has('a'), names.has('b')]).toEqual([true, false]);
});

test('never holds more than it may, and at least the younger half of that', () => {
  const names = new RecentNames(100);
  for (let name = 0; name < 1_000; name += 1) {
    names.add(String(name));
    expect(names.size).toBeLessThanOrEqual(100);
  }
  for (let name = 951; name < 1_000; name += 1) expect(names.has(String(name))).toBe(true);
  expect(names.has('0')).toBe(false);
});

test('what is asked for stays', () => {
  const names = new RecentNames(10);
  names.add('a');
  for (let name = 0; name < 1_000; name += 1) {
    names.add(String(name));
    expect(names.has('a')).toBe(true);
  }
  expect(names.size).toBeLessThanOrEqual(10);
});
