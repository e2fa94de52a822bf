import { plainArray, textArray } from './sql-arrays';

it('formats plain values without quotes and absent ones as null', () => {
  expect(plainArray([1n, undefined, 3n], (item) => item)).toBe('{1,null,3}');
  expect(plainArray([true, false], (item) => item)).toBe('{true,false}');
  expect(plainArray([], (item: bigint) => item)).toBe('{}');
});

it('quotes and escapes text', () => {
  expect(textArray(['a', undefined, 'b,c', '"', '\\', 'null', ''], (item) => item)).toBe(
    '{"a",null,"b,c","\\"","\\\\","null",""}',
  );
});
