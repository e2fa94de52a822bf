import { formatUsd, nanoUsd, parseUsd } from '@gateway/base';
import fc from 'fast-check';
import { publishedPricesOf, type PriceRecords } from './published-prices';

const AT = new Date('2026-06-15T12:00:00Z');
const USD = 1_000_000_000n;

function published(records: PriceRecords) {
  const result = publishedPricesOf(records, AT);
  if (!result.ok) throw new Error(result.reason);
  return result.published;
}

function refusal(records: PriceRecords) {
  const result = publishedPricesOf(records, AT);
  return result.ok ? undefined : result.reason;
}

const timeOfDay = { type: 'time_of_date', start_time: '00:30:00Z', end_time: '16:30:00Z' } as const;
const from = (date: string) => ({ type: 'start_date', start_date: date }) as const;
const cheap = { input_mtok: 1, output_mtok: 2 };
const dear = { input_mtok: 3, output_mtok: 4 };

describe('published prices', () => {
  it('have every price that models.yaml can express, and no price that the data does not state', () => {
    const all = {
      input_mtok: 3,
      cache_read_mtok: 0.3,
      cache_write_mtok: 3.75,
      cache_write_1h_mtok: 6,
      output_mtok: 15,
      output_reasoning_mtok: 12,
      input_image_mtok: 5,
    };
    expect(published(all).prices).toEqual({
      input: 3n * USD,
      cached_input: 300_000_000n,
      cache_write: 3_750_000_000n,
      cache_write_1h: 6n * USD,
      output: 15n * USD,
      reasoning: 12n * USD,
      image: 5n * USD,
    });
    expect(published(cheap).prices).toEqual({ input: USD, output: 2n * USD });
  });

  it('are exact decimals, whatever number a price is', () => {
    const price = fc.bigInt({ min: 0n, max: 100_000n * USD }).map((amount) => formatUsd(nanoUsd(amount)));
    fc.assert(
      fc.property(price, (text) => {
        const { prices, notes } = published({ input_mtok: Number(text), output_mtok: 1 });
        expect(prices.input).toBe(parseUsd(text));
        expect(notes).toEqual([]);
      }),
    );
  });

  it('report a price with more digits than models.yaml has as rounded', () => {
    const { prices, notes } = published({ ...cheap, cache_write_mtok: 1 / 12, cache_read_mtok: 0.1 + 0.2 });
    expect(prices.cache_write).toBe(83_333_333n);
    expect(prices.cached_input).toBe(300_000_000n);
    expect(notes).toEqual([
      'cached_input: 0.30000000000000004, rounded to 0.3',
      'cache_write: 0.08333333333333333, rounded to 0.083333333',
    ]);
  });

  it('have a tier for each prompt size at which a price changes, with all stated prices', () => {
    const { prices } = published({
      input_mtok: { base: 3, tiers: [{ start: 200_000, price: 6 }] },
      cache_read_mtok: 0.3,
      output_mtok: { base: 15, tiers: [{ start: 500_000, price: 22.5 }] },
    });
    expect(prices.tiers).toEqual([
      { above: 200_000, input: 6n * USD, cached_input: 300_000_000n, output: 15n * USD },
      { above: 500_000, input: 6n * USD, cached_input: 300_000_000n, output: 22_500_000_000n },
    ]);
    expect(prices.input).toBe(3n * USD);
  });

  it('report what models.yaml cannot express', () => {
    const { notes } = published({
      ...cheap,
      requests_kcount: 5,
      input_audio_mtok: { base: 1, tiers: [{ start: 1000, price: 2 }] },
    });
    expect(notes).toEqual(['requests_kcount: 5', 'input_audio_mtok: 1, 2 above 1000']);
  });

  it('are those of the last date that has passed, and list the announced ones', () => {
    const records = [
      { prices: { input_mtok: 9, output_mtok: 9 } },
      { constraint: from('2026-06-15'), prices: cheap },
      { constraint: from('2026-07-01'), prices: dear },
    ];
    expect(published(records).prices.input).toBe(USD);
    expect(published(records).upcoming).toEqual([
      { from: '2026-07-01', prices: { input: 3n * USD, output: 4n * USD } },
    ]);
  });

  it('report announced prices that models.yaml cannot express', () => {
    const records = [{ prices: cheap }, { constraint: from('2027-01-01'), prices: { input_mtok: 1 } }];
    expect(published(records)).toMatchObject({
      upcoming: [],
      notes: ['prices from 2027-01-01: the price data has no price of output tokens'],
    });
  });

  it('are refused when they depend on the time of day, unless a later record replaces them', () => {
    const reason = 'they depend on the time of day, which models.yaml cannot express';
    const daily = { constraint: timeOfDay, prices: dear };
    expect(refusal([{ prices: cheap }, daily])).toBe(reason);
    expect(
      refusal([{ prices: cheap }, daily, { constraint: from('2026-01-01'), prices: dear }]),
    ).toBeUndefined();
    expect(refusal([{ prices: cheap }, daily, { constraint: from('2027-01-01'), prices: dear }])).toBe(
      reason,
    );
  });

  it.each<[string, PriceRecords]>([
    ['the price data has no price of input tokens', { audio_hours: 3 }],
    ['the price data has no price of output tokens', { input_mtok: 3 }],
    ['input_mtok is -1', { input_mtok: -1, output_mtok: 1 }],
    ['cache_read_mtok is NaN', { ...cheap, cache_read_mtok: Number.NaN }],
    [
      'output_mtok is 100001',
      { input_mtok: 1, output_mtok: { base: 1, tiers: [{ start: 5, price: 100_001 }] } },
    ],
    ['the price data has none for this date', [{ constraint: from('2027-01-01'), prices: cheap }]],
    [
      'they have an unknown condition: {"type":"weekday"}',
      [{ constraint: { type: 'weekday' }, prices: cheap } as never],
    ],
  ])('are refused: %s', (reason, records) => {
    expect(refusal(records)).toBe(reason);
  });
});
