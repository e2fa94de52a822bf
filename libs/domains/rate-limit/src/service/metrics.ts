import { Counter, type Registry } from 'prom-client';
import type { Decision } from '../core';

export interface RateLimitMetrics {
  decided(decision: Decision): void;
}

/** Counts decisions by their outcome. */
export function createRateLimitMetrics(registry: Registry): RateLimitMetrics {
  const decisions = new Counter({
    name: 'gateway_rate_limit_decisions_total',
    help: 'Admissions by outcome: admitted, undecided, or the type and scope of the limit that refused.',
    labelNames: ['outcome', 'scope'] as const,
    registers: [registry],
  });
  const admitted = decisions.labels({ outcome: 'admitted', scope: '' });
  const undecided = decisions.labels({ outcome: 'undecided', scope: '' });
  const bound = (outcome: string) => ({
    key: decisions.labels({ outcome, scope: 'key' }),
    organization: decisions.labels({ outcome, scope: 'organization' }),
  });
  const refused = { requests: bound('requests'), tokens: bound('tokens'), concurrency: bound('concurrency') };
  return {
    decided: (decision) => {
      switch (decision.kind) {
        case 'admitted':
          return admitted.inc();
        case 'undecided':
          return undecided.inc();
        case 'refused':
          return refused[decision.limitType][decision.scope].inc();
      }
    },
  };
}
