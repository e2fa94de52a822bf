import { Counter, Gauge, type Registry } from 'prom-client';

/** Plain numbers, since every request increments one; read when metrics are scraped. */
export interface LookupCounts {
  cached: number;
  shared: number;
  fetched: number;
  unleased: number;
}

export interface KeyDirectoryState {
  readonly counts: LookupCounts;
  hasValidLease(): boolean;
  cachedKeys(): number;
}

export function createInstruments(metrics: Registry, state: KeyDirectoryState) {
  new Counter({
    name: 'gateway_edge_proxy_key_lookups_total',
    help: 'Key lookups by source: cached, shared (a call to auth in flight), fetched (a new call), or unleased (a call because no lease was valid).',
    labelNames: ['source'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [source, count] of Object.entries(state.counts)) this.inc({ source }, count);
    },
  });
  new Gauge({
    name: 'gateway_edge_proxy_key_lease_live',
    help: '1 while cached keys may be used: the watch is open and its lease is valid.',
    registers: [metrics],
    collect() {
      this.set(state.hasValidLease() ? 1 : 0);
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
      help: 'Cache invalidations received from auth.',
      registers: [metrics],
    }),
    watchesLost: new Counter({
      name: 'gateway_edge_proxy_key_watches_lost_total',
      help: 'Times that the watch ended or its lease expired, and the cache was cleared.',
      registers: [metrics],
    }),
  };
}
