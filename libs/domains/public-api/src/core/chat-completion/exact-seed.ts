import { lastTopLevelNumber } from '../json/last-top-level-number';
import type { JsonObject } from '../json/json-value';

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * The exact seed, where parsing it as a JavaScript number lost digits: a seed has
 * 64 bits, a number has 53.
 *
 * @param bytes - the valid JSON that was parsed to `body`.
 * @returns undefined when the parsed number is exact, or there is no valid seed.
 */
export function readExactSeed(bytes: Uint8Array, body: JsonObject): bigint | undefined {
  const seed = Object.hasOwn(body, 'seed') ? body['seed'] : undefined;
  if (typeof seed !== 'number' || !Number.isInteger(seed) || Number.isSafeInteger(seed)) return undefined;
  const written = lastTopLevelNumber(bytes, 'seed') ?? '';
  const exact = /^-?\d+$/.test(written) ? BigInt(written) : BigInt(seed);
  // Some numbers just outside the range round to its end, so they pass the schema.
  if (exact > MAX_INT64) return MAX_INT64;
  return exact < MIN_INT64 ? MIN_INT64 : exact;
}
