import { lastTopLevelNumber } from '../json/last-top-level-number';
import type { JsonObject } from '../json/json-value';

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * The seed as its sender wrote it, where reading it as a number lost digits: a
 * seed has 64 bits, a JSON number as JavaScript reads it 53.
 *
 * @param bytes - valid JSON, which was parsed to `body`.
 * @returns undefined when the number in the body is exact, or is no seed at all.
 */
export function readExactSeed(bytes: Uint8Array, body: JsonObject): bigint | undefined {
  const seed = Object.hasOwn(body, 'seed') ? body['seed'] : undefined;
  if (typeof seed !== 'number' || !Number.isInteger(seed) || Number.isSafeInteger(seed)) return undefined;
  const written = lastTopLevelNumber(bytes, 'seed') ?? '';
  const exact = /^-?\d+$/.test(written) ? BigInt(written) : BigInt(seed);
  // A few numbers above the range look like its end once they are read; the schema has let them pass.
  if (exact > MAX_INT64) return MAX_INT64;
  return exact < MIN_INT64 ? MIN_INT64 : exact;
}
