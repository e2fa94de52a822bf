import fc from 'fast-check';
import { countTokens as countCl100k, encode as encodeCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k, encode as encodeO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { fuzzRuns, unicodeText } from '@gateway/test-support';
import { loadEncoding } from './encodings';

const allowAll = { disallowedSpecial: new Set<string>() };

const known = [
  ['o200k_base', countO200k, encodeO200k],
  ['cl100k_base', countCl100k, encodeCl100k],
] as const;

const unit = fc.oneof(
  fc.constantFrom(
    ...['a', 'Z', '7', ' ', '  ', '\n', '\r\n', '\t', '/', '---', "'s", "'LL", '\u00a0', '\u2028'],
  ),
  fc.constantFrom('\u4e00', '\u{1f600}', '\ud800', '\udc00', 'word', ' word', '<|endoftext|>', '\u0301'),
  unicodeText({ maxLength: 4 }),
  fc.nat(0xffff).map((code) => String.fromCharCode(code)),
  fc.string({ unit: fc.constantFrom(...'etaoinshrdlu'), maxLength: 20 }),
);

// gpt-tokenizer drops byte order marks.
const text = fc.array(unit, { maxLength: 60 }).map((units) => units.join('').replaceAll('\ufeff', ''));

it.each(known)('%s has the same counts as gpt-tokenizer, for any text', async (name, countTokens) => {
  const { count } = await loadEncoding(name);
  fc.assert(
    fc.property(text, (any) => expect(count(any)).toBe(countTokens(any, allowAll))),
    fuzzRuns(),
  );
});

it.each(known)('%s has the same token boundaries as gpt-tokenizer', async (name, _count, encode) => {
  const { lengths } = await loadEncoding(name);
  const { starts } = (await loadEncoding(name)).vocabulary;
  const lengthOf = (rank: number): number => (starts[rank + 1] as number) - (starts[rank] as number);
  fc.assert(
    fc.property(text, (any) => expect(lengths(any)).toEqual(encode(any, allowAll).map(lengthOf))),
    fuzzRuns(),
  );
});

it('a byte order mark is the token of the vocabulary', async () => {
  const { count, lengths } = await loadEncoding('o200k_base');
  expect(count('\ufeff')).toBe(1);
  expect(lengths('\ufeffusing')).toEqual([8]);
});

it('an encoding is loaded once, and an unknown name is rejected each time', async () => {
  expect(await loadEncoding('o200k_base')).toBe(await loadEncoding('o200k_base'));
  await expect(loadEncoding('p50k_base')).rejects.toThrow('no tokenizer');
  await expect(loadEncoding('p50k_base')).rejects.toThrow('no tokenizer');
});
