import { seriesColors } from './series-colors';

const ids = Array.from({ length: 30 }, (_, index) => `acme/model-${index}`);
const hueOf = (color: string | undefined) => /--series-\d+/.exec(color ?? '')?.[0];

it('keeps the color of a model when others are published', () => {
  const alone = ids.map((id) => hueOf(seriesColors([id]).get(id)));
  const together = seriesColors(ids);
  expect(ids.map((id) => hueOf(together.get(id)))).toEqual(alone);
});

it('gives a model the same color, whatever the order', () =>
  expect(seriesColors([...ids].reverse())).toEqual(seriesColors(ids)));

it('gives the series of a chart different colors', () => {
  for (let from = 0; from + 6 <= ids.length; from += 1) {
    expect(new Set(seriesColors(ids.slice(from, from + 6)).values()).size).toBe(6);
  }
});

it('uses one of the ten colors', () => {
  for (const id of ids) expect(seriesColors([id]).get(id)).toMatch(/^var\(--series-([1-9]|10)\)$/);
});
