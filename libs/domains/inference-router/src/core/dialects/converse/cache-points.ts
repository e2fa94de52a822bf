import { asObject, type JsonObject } from '../../completion/json';
import type { ModelFamily } from './model-family';

export type CachePlace = 'tools' | 'system' | 'messages';

/** Creates the cache points of one request. The edge has limited their number. */
export class CachePoints {
  constructor(private readonly family: ModelFamily) {}

  /** Appends a cache point when the holder, a part or tool, requests one and the model supports it. */
  append(blocks: JsonObject[], holder: JsonObject, place: CachePlace): void {
    const control = asObject(holder['cache_control']);
    if (!control || !this.supports(place) || blocks.length === 0) return;
    // Nova has one lifetime only.
    const ttl = control['ttl'] === '1h' && this.family !== 'nova' ? { ttl: '1h' } : {};
    blocks.push({ cachePoint: { type: 'default', ...ttl } });
  }

  private supports(place: CachePlace): boolean {
    switch (this.family) {
      case 'anthropic':
      case 'unknown':
        return true;
      case 'nova':
        return place !== 'tools';
      default:
        // Bedrock refuses cache points for other models.
        return false;
    }
  }
}
