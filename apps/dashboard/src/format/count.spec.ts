import { count, counted, percent, shortCount } from './count';

it('groups thousands', () => expect(count(1_234_567)).toBe('1,234,567'));

it.each([
  [0, '0%'],
  [0.25, '25%'],
  [0.123, '12.3%'],
  [1 / 3, '≈ 33.3%'],
  [0.0001, '≈ 0%'],
  [1, '100%'],
])('marks a rounded percentage of %s', (share, text) => expect(percent(share)).toBe(text));

it('uses singular and plural', () => {
  expect([counted(1, 'key'), counted(2, 'key'), counted(0, 'address', 'addresses')]).toEqual([
    '1 key',
    '2 keys',
    '0 addresses',
  ]);
});

it('shortens for axes', () => expect(shortCount(1_240_000)).toBe('1.2M'));
