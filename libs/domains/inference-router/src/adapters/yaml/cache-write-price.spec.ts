import { missingCacheWritePrices } from './cache-write-price';
import type { DialectName } from '../../core/dialects/registry';
import type { ModelDocument } from './schema';

type Prices = ModelDocument['prices'];

const unpriced: Prices = { input: 3n, output: 15n };
const priced: Prices = { ...unpriced, cache_write: 4n, cache_write_1h: 6n };

function issuesOf(
  prices: Prices,
  {
    dialect = 'anthropic',
    capabilities = ['prompt_cache'],
  }: { dialect?: DialectName; capabilities?: string[] } = {},
) {
  const model = { id: 'acme/opus', capabilities: capabilities as ModelDocument['capabilities'], prices };
  const providers = [
    { name: 'local', dialect: 'openai' as const },
    { name: 'claude', dialect },
  ];
  return missingCacheWritePrices(model, 'models[2]', providers);
}

describe('a model with prompt_cache', () => {
  it.each(['anthropic', 'converse'] as const)(
    'needs a price of cache writes of each lifetime at a provider of dialect %s',
    (dialect) => {
      expect(issuesOf(unpriced, { dialect })).toEqual([
        'models[2].prices.cache_write: is required: model "acme/opus" has prompt_cache, and provider "claude" charges for cache writes',
        'models[2].prices.cache_write_1h: is required: model "acme/opus" has prompt_cache, and provider "claude" charges for cache writes',
      ]);
      expect(issuesOf(priced, { dialect })).toEqual([]);
    },
  );

  it('needs both in each planned price change', () => {
    const model = { id: 'acme/opus', capabilities: ['prompt_cache' as const], prices: priced };
    const planned = { ...model, price_changes: [{ from: '2027-01-01T00:00:00Z', ...unpriced }] };
    expect(missingCacheWritePrices(planned, 'models[2]', [{ name: 'claude', dialect: 'anthropic' }])).toEqual(
      [
        expect.stringContaining('models[2].price_changes[0].cache_write: is required'),
        expect.stringContaining('models[2].price_changes[0].cache_write_1h: is required'),
      ],
    );
  });

  it('needs both in each tier', () => {
    const tiers = [
      { above: 1_000, ...priced },
      { above: 2_000, ...priced, cache_write_1h: undefined },
    ];
    expect(issuesOf({ ...priced, tiers })).toEqual([
      'models[2].prices.tiers[1].cache_write_1h: is required: model "acme/opus" has prompt_cache, and provider "claude" charges for cache writes',
    ]);
  });

  it.each(['openai', 'gemini'] as const)('needs none at a provider of dialect %s', (dialect) => {
    expect(issuesOf(unpriced, { dialect })).toEqual([]);
  });
});

it('a model without prompt_cache needs no price of cache writes, since it gets no cache points', () => {
  expect(issuesOf(unpriced, { capabilities: ['tools'] })).toEqual([]);
});
