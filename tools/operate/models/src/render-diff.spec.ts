import { compareCatalogue, type PriceData } from '@gateway/inference-router';
import { readCatalogue } from './catalogue';
import { renderDiff } from './render-diff';

const AT = new Date('2026-11-26T12:00:00Z');

const FILE = `
providers:
  - { name: here, base_url: http://here.example/v1 }
  - { name: there, base_url: http://there.example/v1, api_key_env: NOT_SET }
models:
  - id: a/one
    targets:
      - { provider: here, model: one }
      - { provider: there, model: one, cost: { input: '1', output: '2' } }
    context_window: 10
    max_output_tokens: 5
    prices: { input: '3', output: '15', cache_write: '4', tiers: [{ above: 100, input: '6', output: '15' }] }
  - id: a/two
    disabled: true
    targets: [{ provider: here, model: two }]
    context_window: 10
    max_output_tokens: 5
    prices: { input: '1', output: '2' }
`;

const cheap = { input_mtok: 1, output_mtok: 2 };

function diff(prices: Readonly<Record<string, PriceData['prices']>>) {
  const find = (baseUrl: string, model: string) => {
    const found = prices[`${new URL(baseUrl).host.split('.')[0]} ${model}`];
    return found && { model, displayName: undefined, contextWindow: 1, source: undefined, prices: found };
  };
  return renderDiff(compareCatalogue(readCatalogue(FILE), find, AT), 'a list');
}

describe('the report of diff', () => {
  it('lists each different price of each model, and says that prices differ', () => {
    const tiered = { base: 3.3, tiers: [{ start: 100, price: 6.6 }] };
    expect(
      diff({
        'here one': { input_mtok: tiered, output_mtok: 15 },
        'there one': { input_mtok: 1, output_mtok: 1.9 },
        'here two': cheap,
      }),
    ).toEqual({
      differs: true,
      lines: [
        'a/one (here, one): prices, in US dollars per million tokens',
        '  input: 3 → 3.3',
        '  input above 100 prompt tokens: 6 → 6.6',
        'a/one (there, one): cost, in US dollars per million tokens',
        '  output: 2 → 1.9',
        'Set in the file, but not in the price data:',
        '  a/one (here, one): cache_write',
        '2 of 3 compared targets differ from a list.',
      ],
    });
  });

  it('compares the cost of a target that has one, not the prices of its model', () => {
    expect(diff({ 'there one': cheap }).differs).toBe(false);
    expect(diff({ 'there one': { input_mtok: 3, output_mtok: 15 } }).differs).toBe(true);
  });

  it('does not count targets as equal that it cannot compare', () => {
    const daily = [
      { prices: cheap },
      {
        constraint: { type: 'time_of_date', start_time: '01:00:00Z', end_time: '02:00:00Z' } as const,
        prices: cheap,
      },
    ];
    expect(diff({ 'here two': daily })).toEqual({
      differs: false,
      lines: [
        'Not compared:',
        '  a/two (here, two): they depend on the time of day, which models.yaml cannot express',
        'Not in the price data:',
        '  a/one (here, one)',
        '  a/one (there, one)',
        '0 of 0 compared targets differ from a list.',
      ],
    });
  });

  it('reports announced changes and inexpressible prices, which are not differences yet', () => {
    const announced = [
      { prices: { ...cheap, requests_kcount: 5 } },
      {
        constraint: { type: 'start_date', start_date: '2027-01-01' } as const,
        prices: { ...cheap, input_mtok: 7 },
      },
    ];
    expect(diff({ 'there one': cheap, 'here two': announced })).toEqual({
      differs: false,
      lines: [
        'Announced changes:',
        '  a/two (here, two) from 2027-01-01: input: 1 → 7',
        'In the price data, but not expressible in models.yaml:',
        '  a/two (here, two): requests_kcount: 5',
        'Not in the price data:',
        '  a/one (here, one)',
        '0 of 2 compared targets differ from a list.',
      ],
    });
  });
});
