import { Counter, Gauge, type Registry } from 'prom-client';

export interface EventLogInstruments {
  readonly appended: Counter<'topic'>;
  readonly handled: Counter<'topic' | 'group'>;
  readonly retried: Counter<'topic' | 'group'>;
  readonly deadLettered: Counter<'topic' | 'group'>;
  readonly redelivered: Counter<'topic' | 'group'>;
  readonly replayed: Counter<'topic' | 'group'>;
  readonly expired: Counter<'topic' | 'group'>;
  readonly deadLetters: Gauge<'topic' | 'group'>;
  readonly weakTopicSettings: Gauge<'topic' | 'setting'>;
  readonly lag: Gauge<'topic' | 'group'>;
}

/** Shared by all logs of a process, such as Kafka and its outbox, which differ in topic and group. */
const created = new WeakMap<Registry, EventLogInstruments>();

export function createInstruments(registry: Registry): EventLogInstruments {
  const existing = created.get(registry);
  if (existing !== undefined) return existing;
  const instruments = registerInstruments(registry);
  created.set(registry, instruments);
  return instruments;
}

function registerInstruments(registry: Registry): EventLogInstruments {
  const registers = [registry];
  const labelNames = ['topic', 'group'] as const;
  return {
    appended: new Counter({
      name: 'gateway_events_appended_total',
      help: 'Events appended by this process, except in transactions of callers',
      labelNames: ['topic'],
      registers,
    }),
    handled: new Counter({
      name: 'gateway_events_handled_total',
      help: 'Events handled, once per successful delivery',
      labelNames,
      registers,
    }),
    retried: new Counter({
      name: 'gateway_events_retried_total',
      help: 'Events of failed deliveries that are retried',
      labelNames,
      registers,
    }),
    deadLettered: new Counter({
      name: 'gateway_events_dead_lettered_total',
      help: 'Events dead-lettered',
      labelNames,
      registers,
    }),
    redelivered: new Counter({
      name: 'gateway_events_redelivered_total',
      help: 'Dead letters handled after a redelivery',
      labelNames,
      registers,
    }),
    replayed: new Counter({
      name: 'gateway_events_replayed_total',
      help: 'Events read from Kafka again, because the database lost their effects in a failover or a restore',
      labelNames,
      registers,
    }),
    expired: new Counter({
      name: 'gateway_events_expired_total',
      help: 'Events that the database has no effects of, and that Kafka has deleted',
      labelNames,
      registers,
    }),
    deadLetters: new Gauge({
      name: 'gateway_events_dead_letters',
      help: 'Dead letters that are neither handled nor discarded; counted up to 20,000',
      labelNames,
      registers,
    }),
    weakTopicSettings: new Gauge({
      name: 'gateway_events_weak_topic_setting',
      help: 'Whether a setting of a Kafka topic promises less than is configured (1), by setting',
      labelNames: ['topic', 'setting'],
      registers,
    }),
    lag: new Gauge({
      name: 'gateway_events_lag',
      help: 'Events of the topic that the group has not handled yet, in all processes',
      labelNames,
      registers,
    }),
  };
}
