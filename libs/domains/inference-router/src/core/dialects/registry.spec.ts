import { chargesCacheWrites, writesCacheImplicitly } from './registry';

it.each([
  ['openai', { charges: false, implicitly: true }],
  ['anthropic', { charges: true, implicitly: false }],
  ['gemini', { charges: false, implicitly: false }],
  ['converse', { charges: true, implicitly: false }],
] as const)('knows the cache writes of the dialect %s', (dialect, { charges, implicitly }) => {
  expect(chargesCacheWrites(dialect)).toBe(charges);
  expect(writesCacheImplicitly(dialect)).toBe(implicitly);
});
