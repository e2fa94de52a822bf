import { Counter, Gauge, type Registry } from 'prom-client';

export interface EventLogInstruments {
  readonly appended: Counter<'topic'>;
  readonly handled: Counter<'topic' | 'group'>;
  readonly retried: Counter<'topic' | 'group'>;
  readonly deadLettered: Counter<'topic' | 'group'>;
  readonly redelivered: Counter<'topic' | 'group'>;
  readonly deadLetters: Gauge<'topic' | 'group'>;
  readonly lag: Gauge<'topic' | 'group'>;
}

/** A process may have several logs, such as an outbox beside Kafka: they share instruments, and differ in topic and group. */
const created = new WeakMap<Registry, EventLogInstruments>();

export function createInstruments(registry: Registry): EventLogInstruments {
  const known = created.get(registry);
  if (known !== undefined) return known;
  const instruments = makeInstruments(registry);
  created.set(registry, instruments);
  return instruments;
}

function makeInstruments(registry: Registry): EventLogInstruments {
  const registers = [registry];
  const labelNames = ['topic', 'group'] as const;
  return {
    appended: new Counter({
      name: 'gateway_events_appended_total',
      help: 'Events appended by this process, outside transactions of its own',
      labelNames: ['topic'],
      registers,
    }),
    handled: new Counter({
      name: 'gateway_events_handled_total',
      help: 'Events handled, each counted once per delivery that succeeded',
      labelNames,
      registers,
    }),
    retried: new Counter({
      name: 'gateway_events_retried_total',
      help: 'Deliveries that failed and are made again',
      labelNames,
      registers,
    }),
    deadLettered: new Counter({
      name: 'gateway_events_dead_lettered_total',
      help: 'Events given up on',
      labelNames,
      registers,
    }),
    redelivered: new Counter({
      name: 'gateway_events_redelivered_total',
      help: 'Dead letters that were handled after all',
      labelNames,
      registers,
    }),
    deadLetters: new Gauge({
      name: 'gateway_events_dead_letters',
      help: 'Dead letters that are neither handled nor discarded, as of the last look; counted up to 20,000',
      labelNames,
      registers,
    }),
    lag: new Gauge({
      name: 'gateway_events_lag',
      help: 'Events of the topic that the group has not handled yet, wherever its members run',
      labelNames,
      registers,
    }),
  };
}
