import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { bindService } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import type { Registry } from '@gateway/runtime';
import type { LimitStore } from '../core';
import { createRateLimitHandlers } from './handlers';
import { createRateLimitMetrics } from './metrics';

export interface RateLimitPorts {
  readonly store: LimitStore;
  readonly metrics: Registry;
}

export function createRateLimitModule({ store, metrics }: RateLimitPorts): GatewayModule {
  const handlers = createRateLimitHandlers(store, createRateLimitMetrics(metrics));
  return {
    name: 'rate-limit',
    services: [bindService(RateLimitDefinition, handlers)],
    consumers: [],
    start: async () => undefined,
    stop: async () => undefined,
  };
}
