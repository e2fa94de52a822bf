import type { BillingSnapshot, RecordedGeneration } from './billing-snapshot';

const MILLION = 1_000_000n;

/**
 * Reports a generation whose cost was not computed with the prices of its hold. Shares no code with the audited
 * services, and does not know tiers.
 */
export function differencesFromFrozenPrices({
  settled,
  recorded,
}: Pick<BillingSnapshot, 'settled' | 'recorded'>): string[] {
  return recorded.flatMap(({ id, prices, tokens, cost }) => {
    const frozen = settled.get(id)?.prices;
    if (frozen === undefined) return [];
    // Usage has no prices of a generation that failed before the first event.
    if (prices !== undefined && prices !== frozen)
      return [`${id}: held with the prices "${frozen}", recorded with "${prices}"`];
    const expected = costOf(tokens, frozen);
    return cost === expected ? [] : [`${id}: cost ${cost}, ${expected} at the prices of its hold`];
  });
}

/** @param text nano-dollars per million tokens, such as "input=150000000 output=600000000" */
function costOf(tokens: RecordedGeneration['tokens'], text: string): bigint {
  const stated = new Map(
    text.split(' ').map((entry): [string, bigint] => {
      const [name = '', price = ''] = entry.split('=');
      return [name, BigInt(price)];
    }),
  );
  const input = stated.get('input') ?? 0n;
  const output = stated.get('output') ?? 0n;
  const cacheWrite = stated.get('cache_write') ?? input;
  const { prompt, cached, cacheWrite: written, cacheWrite1h, image, completion, reasoning } = tokens;
  const millionths =
    (prompt - cached - written - cacheWrite1h - image) * input +
    cached * (stated.get('cached_input') ?? input) +
    written * cacheWrite +
    cacheWrite1h * (stated.get('cache_write_1h') ?? cacheWrite) +
    image * (stated.get('image') ?? input) +
    (completion - reasoning) * output +
    reasoning * (stated.get('reasoning') ?? output);
  return (millionths + MILLION - 1n) / MILLION;
}
