import { storableText } from './storable-text';

it.each([
  ['plain', 'plain'],
  ['a\u0000b', 'a\uFFFDb'],
  ['😀', '😀'],
  ['\ud83d', '\uFFFD'],
  ['x\ude00y\ud83d\ud83d\ude00', 'x\uFFFDy\uFFFD😀'],
])('%j is stored as %j', (text, stored) => {
  expect(storableText(text)).toBe(stored);
  expect(Buffer.from(stored).toString()).toBe(stored);
});
