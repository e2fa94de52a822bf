import { plainArray, textArray } from './sql-arrays';

it('writes plain values as they are and absent ones as null', () => {
  expect(plainArray([1n, undefined, 3n], (item) => item)).toBe('{1,null,3}');
  expect(plainArray([true, false], (item) => item)).toBe('{true,false}');
  expect(plainArray([], (item: bigint) => item)).toBe('{}');
});

it('quotes text so that no character of it has a meaning', () => {
  expect(textArray(['a', undefined, 'b,c', '"', '\\', 'null', ''], (item) => item)).toBe(
    '{"a",null,"b,c","\\"","\\\\","null",""}',
  );
});
