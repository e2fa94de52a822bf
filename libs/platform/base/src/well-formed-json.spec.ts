import { wellFormedJson } from './well-formed-json';

it('replaces halves of characters in names and texts, and nothing else', () => {
  const value = { ['k\udc00']: ['cut \ud83d', '😀', '\\ud83d', '\\\ud83d', '\ud83d\ud83d\ude00'] };
  expect(JSON.parse(wellFormedJson(JSON.stringify(value)))).toEqual({
    ['k\ufffd']: ['cut \ufffd', '😀', '\\ud83d', '\\\ufffd', '\ufffd😀'],
  });
});
