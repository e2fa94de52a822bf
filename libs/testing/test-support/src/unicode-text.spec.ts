import fc from 'fast-check';
import { unicodeText } from './unicode-text';

const SAMPLE = { numRuns: 5_000, seed: 1 };

it('unicode text has characters of every plane, and no lone surrogates', () => {
  const characters = fc.sample(unicodeText(), SAMPLE).flatMap((text) => [...text]);
  const planes = new Set(characters.map((character) => (character.codePointAt(0) ?? 0) >> 16));
  expect(planes.size).toBe(17);
  expect(characters.some((character) => character < ' ')).toBe(true);
  expect(characters.some((character) => /\p{Surrogate}/u.test(character))).toBe(false);
});

it('unicode text may be the name of a member of every object, which confuses parsers', () => {
  expect(fc.sample(unicodeText(), SAMPLE)).toEqual(expect.arrayContaining(['__proto__', 'toString']));
});

it('unicode text shrinks to the shortest that fails', () => {
  const property = fc.property(
    unicodeText({ maxLength: 20 }),
    (text) => ![...text].some((one) => one >= '\ue000'),
  );
  const { counterexample } = fc.check(property, SAMPLE);
  expect(counterexample).toEqual(['\ue000']);
});
