import { chargesCacheWrites, type DialectName } from '../../core/dialects/registry';
import type { ModelDocument } from './schema';

const WRITE_PRICES = ['cache_write', 'cache_write_1h'] as const;

/**
 * Reports the missing prices of cache writes of a model with the capability
 * `prompt_cache`, if one of its providers charges for them. With the defaults,
 * cheaper prices of the same tokens, the operator would pay the difference.
 */
export function missingCacheWritePrices(
  { id, capabilities, prices, price_changes: changes = [] }: CheckedModel,
  path: string,
  providers: readonly { readonly name: string; readonly dialect: DialectName }[],
): readonly string[] {
  const charging = providers.find(({ dialect }) => chargesCacheWrites(dialect));
  if (!charging || !capabilities.includes('prompt_cache')) return [];
  const places = [
    { at: 'prices', stated: prices },
    ...changes.map((stated, index) => ({ at: `price_changes[${index}]`, stated })),
  ];
  return places.flatMap(({ at, stated }) =>
    [stated, ...(stated.tiers ?? [])].flatMap((tier, index) => {
      const parent = index === 0 ? at : `${at}.tiers[${index - 1}]`;
      return WRITE_PRICES.filter((price) => tier[price] === undefined).map(
        (price) =>
          `${path}.${parent}.${price}: is required: model "${id}" has prompt_cache, and provider "${charging.name}" charges for cache writes`,
      );
    }),
  );
}

type CheckedModel = Pick<ModelDocument, 'id' | 'capabilities' | 'prices' | 'price_changes'>;
