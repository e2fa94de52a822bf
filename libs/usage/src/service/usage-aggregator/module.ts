import type { Clock } from '@gateway/base';
import {
  createDeadLetterService,
  TOPIC_GENERATION_SETTLED,
  UnprocessableEventsError,
  type DeadLetters,
  type LoggedEvent,
  type Unprocessable,
} from '@gateway/events';
import { type GatewayModule } from '@gateway/module';
import type { Logger } from '@gateway/runtime';

import { Counter, Histogram, type Registry } from 'prom-client';
import type { SettlementStore } from '../../core/ports';
import type { SettledGeneration } from '../../core/settled-generation';
import { decodeSettled } from './messages';
import { createUpkeep } from './upkeep';

export interface UsageAggregatorPorts {
  readonly store: SettlementStore;
  /** Served for the group of this module; absent where the event log keeps none that can be looked at. */
  readonly deadLetters?: DeadLetters;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly log?: Logger;
  /** Generations are kept for so many days, and up to a month longer; absent: for ever. */
  readonly retentionDays?: number | undefined;
}

const NAME = 'usage-aggregator';
const DELAY_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** The write side: stores what was settled, so that it can be looked up and added up. */
export function createUsageAggregatorModule(ports: UsageAggregatorPorts): GatewayModule {
  const upkeep = createUpkeep({
    tables: ports.store,
    clock: ports.clock,
    log: ports.log,
    retentionDays: ports.retentionDays,
  });
  const registers = [ports.metrics];
  const outcomes = new Counter({
    name: 'gateway_usage_generations_total',
    help: 'Settled generations received, by whether they were new',
    labelNames: ['outcome'],
    registers,
  });
  const recordedCount = outcomes.labels('recorded');
  const duplicateCount = outcomes.labels('duplicate');
  const delay = new Histogram({
    name: 'gateway_usage_visible_delay_seconds',
    help: 'From the settlement of a generation until it can be looked up',
    buckets: DELAY_BUCKETS_SECONDS,
    registers,
  });

  async function handle(events: readonly LoggedEvent[]): Promise<void> {
    const { generations, unprocessable } = decodeAll(events);
    const recorded = await ports.store.record(generations);
    recordedCount.inc(recorded);
    duplicateCount.inc(generations.length - recorded);
    const now = ports.clock.now();
    for (const { settledAt } of generations) delay.observe(Math.max(0, now - settledAt) / 1000);
    // The good ones are stored by now; delivered once more, they change nothing.
    if (unprocessable.length > 0) throw new UnprocessableEventsError(unprocessable);
  }

  const consumers = [{ topic: TOPIC_GENERATION_SETTLED, group: NAME, handle }];

  return {
    name: NAME,
    services: ports.deadLetters ? [createDeadLetterService(ports.deadLetters, consumers)] : [],
    consumers,
    start: () => upkeep.start(),
    stop: () => upkeep.stop(),
  };
}

function decodeAll(events: readonly LoggedEvent[]) {
  const generations: SettledGeneration[] = [];
  const unprocessable: Unprocessable[] = [];
  for (const event of events) {
    try {
      generations.push(decodeSettled(event.payload));
    } catch (error) {
      unprocessable.push({ event, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { generations, unprocessable };
}
