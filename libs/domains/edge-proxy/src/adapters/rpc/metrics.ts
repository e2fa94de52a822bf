import { Counter, type Registry } from 'prom-client';

export function createDroppedReleases(metrics: Registry): Counter {
  return new Counter({
    name: 'gateway_edge_proxy_reservation_releases_failed_total',
    help: 'Slots, holds and claims that could not be released, because their service was unreachable; their lease or deadline frees them.',
    registers: [metrics],
  });
}
