import { chargesCacheWrites, type DialectName } from '../../core/dialects/registry';
import type { ModelDocument } from './schema';

/**
 * Reports the missing `cache_write` prices of a model with the capability
 * `prompt_cache`, if one of its providers charges for cache writes. With the
 * default, the price of input, the operator would pay the difference.
 */
export function missingCacheWritePrices(
  { id, capabilities, prices }: Pick<ModelDocument, 'id' | 'capabilities' | 'prices'>,
  path: string,
  providers: readonly { readonly name: string; readonly dialect: DialectName }[],
): readonly string[] {
  const charging = providers.find(({ dialect }) => chargesCacheWrites(dialect));
  if (!charging || !capabilities.includes('prompt_cache')) return [];
  const { tiers = [] } = prices;
  return [prices, ...tiers].flatMap(({ cache_write: price }, index) => {
    if (price !== undefined) return [];
    const field = index === 0 ? 'prices.cache_write' : `prices.tiers[${index - 1}].cache_write`;
    return [
      `${path}.${field}: is required: model "${id}" has prompt_cache, and provider "${charging.name}" charges for cache writes`,
    ];
  });
}
