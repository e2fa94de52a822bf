import { asObject, type JsonObject } from '../../completion/json';

interface CachePoint {
  readonly type: 'ephemeral';
  readonly ttl?: '5m' | '1h';
}

/** A part of the prompt that can end a cached prefix. */
export interface Cacheable {
  cache_control?: CachePoint;
}

/** The cache point of a part or tool; undefined when it has none. The edge has limited their number. */
export function readCachePoint(holder: JsonObject): CachePoint | undefined {
  const control = asObject(holder['cache_control']);
  if (!control) return undefined;
  const { ttl } = control;
  return ttl === '5m' || ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' };
}
