import { seriesColors } from './series-colors';

it('gives a model the same color, whatever the order', () => {
  // Enough that some share a color at first.
  const ids = Array.from({ length: 9 }, (_, index) => `acme/model-${index * 7}`);
  expect(seriesColors([...ids].reverse())).toEqual(seriesColors(ids));
});

it('gives up to ten models different colors', () => {
  const ids = Array.from({ length: 10 }, (_, index) => `acme/model-${index}`);
  expect(new Set(seriesColors(ids).values()).size).toBe(10);
});

it('gives every further model one of the colors', () => {
  const ids = Array.from({ length: 25 }, (_, index) => `acme/model-${index}`);
  for (const color of seriesColors(ids).values()) expect(color).toMatch(/^var\(--series-([1-9]|10)\)$/);
});
