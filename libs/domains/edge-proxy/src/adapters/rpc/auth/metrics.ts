import { Counter, Gauge, type Registry } from 'prom-client';

/** Counted as plain numbers, since every request passes here; read when metrics are scraped. */
export interface LookupCounts {
  cached: number;
  shared: number;
  fetched: number;
  unleased: number;
}

export interface KeyDirectoryState {
  readonly counts: LookupCounts;
  isLive(): boolean;
  cachedKeys(): number;
}

export function createInstruments(metrics: Registry, state: KeyDirectoryState) {
  new Counter({
    name: 'gateway_edge_proxy_key_lookups_total',
    help: 'Key lookups by where the answer came from: the cache, a call shared with others, a call of its own, or a call made because no lease was running.',
    labelNames: ['source'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [source, count] of Object.entries(state.counts)) this.inc({ source }, count);
    },
  });
  new Gauge({
    name: 'gateway_edge_proxy_key_lease_live',
    help: '1 while cached keys may be used: the watch is open and its lease runs.',
    registers: [metrics],
    collect() {
      this.set(state.isLive() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'gateway_edge_proxy_cached_keys',
    help: 'Keys in the cache.',
    registers: [metrics],
    collect() {
      this.set(state.cachedKeys());
    },
  });
  return {
    invalidations: new Counter({
      name: 'gateway_edge_proxy_key_invalidations_total',
      help: 'Times that auth told this edge to forget something.',
      registers: [metrics],
    }),
    watchesLost: new Counter({
      name: 'gateway_edge_proxy_key_watches_lost_total',
      help: 'Times that the watch ended or its lease ran out, and cached keys were forgotten.',
      registers: [metrics],
    }),
  };
}
