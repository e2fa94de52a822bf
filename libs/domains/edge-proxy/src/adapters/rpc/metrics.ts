import { Counter, type Registry } from 'prom-client';

export function createDroppedReleases(metrics: Registry): Counter {
  return new Counter({
    name: 'gateway_edge_proxy_reservation_releases_failed_total',
    help: 'Slots, holds and claims that were left to their lease or deadline, because their service could not be reached.',
    registers: [metrics],
  });
}
