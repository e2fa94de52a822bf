import { lastTopLevelNumber } from '../json/last-top-level-number';
import type { JsonObject } from '../json/json-value';

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
  return /^-?\d+$/.test(written) ? BigInt(written) : BigInt(seed);
}
