import { chunksWithin } from './chunks';

const count = (max: number) => ({ max, measure: () => 1 });
const length = (max: number) => ({ max, measure: (text: string) => text.length });

it.each([
  ['nothing', [], []],
  ['a limit of items', ['a', 'b', 'c', 'd'], [['a', 'b', 'c'], ['d']]],
  ['a limit of sizes', ['aaa', 'bb', 'c'], [['aaa', 'bb'], ['c']]],
  ['an item larger than the limit', ['a', 'bbbbbbb', 'c'], [['a'], ['bbbbbbb'], ['c']]],
])('%s', (_name, items, expected) => {
  expect(chunksWithin(items, count(3), length(5))).toEqual(expected);
});
