import { Counter, type Registry } from 'prom-client';
import type { Decision } from '../core';

export interface RateLimitMetrics {
  decided(decision: Decision): void;
}

/** Counts decisions by their outcome. */
export function createRateLimitMetrics(registry: Registry): RateLimitMetrics {
  const decisions = new Counter({
    name: 'gateway_rate_limit_decisions_total',
    help: 'Admissions decided, by outcome: admitted, or the type and scope of the limit that refused.',
    labelNames: ['outcome', 'scope'],
    registers: [registry],
  });
  const admitted = decisions.labels('admitted', '');
  const bound = (outcome: string) => ({
    key: decisions.labels(outcome, 'key'),
    organization: decisions.labels(outcome, 'organization'),
  });
  const refused = { requests: bound('requests'), tokens: bound('tokens'), concurrency: bound('concurrency') };
  return {
    decided: (decision) => {
      if (decision.kind === 'admitted') admitted.inc();
      else refused[decision.limitType][decision.scope].inc();
    },
  };
}
