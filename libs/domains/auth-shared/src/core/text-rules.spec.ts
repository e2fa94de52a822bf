import { readText } from './text-rules';

const read = (text: string) => readText('name', text, 100);

it.each([
  'Acme',
  'Ünïcode GmbH',
  '株式会社',
  'قهوة',
  'family 👨\u200d👩\u200d👧',
  'a "quoted" & <b>name</b>',
])('accepts %s as a name', (name) => expect(read(` ${name} `)).toBe(name));

it.each([
  ['a control character', 'a\u0007b'],
  ['NUL', 'a\u0000b'],
  ['a right-to-left override', 'a\u202Eb'],
  ['an isolate', 'a\u2066b'],
  ['a direction mark', 'a\u200Eb'],
  ['a line separator', 'a\u2028b'],
  ['a zero-width space', 'a\u200Bb'],
  ['a byte order mark inside', 'a\uFEFFb'],
  ['half a surrogate pair', 'a\uD800b'],
  ['a tag', 'a\u{E0041}b'],
])('refuses %s in a name', (_what, name) => {
  expect(read(name)).toMatchObject({ field: 'name' });
});
