import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@gateway/cluster';
import { createKafkaEventLog, TOPIC_GENERATION_FINISHED } from '@gateway/events';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import { Client } from 'pg';
import { MODEL, type Laboratory } from '../laboratory';

/** A fault, and which alerts are there for it. */
export interface Drill {
  readonly fault: string;
  readonly alerts: readonly string[];
  /** What its runbooks have one look at. */
  readonly queries: readonly string[];
  /** @returns mends it. */
  begin(laboratory: Laboratory): Promise<() => Promise<void> | void>;
}

type Undo = () => Promise<void> | void;

/** Long and short enough for calls to be slow, not lost. */
const STUTTER_MS = 400;
const USUAL_FAULTS = { rate: 0.04, kinds: ['503'] };
const STREAMS = 20;
const WRONG_TOKENS = 900_000;

function pause({ cluster }: Laboratory, ...services: ServiceName[]): Undo {
  const paused = cluster.replicas.filter(({ service }) => services.includes(service));
  for (const replica of paused) replica.pause();
  return () => paused.forEach((replica) => replica.resume());
}

function cut({ cluster }: Laboratory, wires: string): Undo {
  const found = [...(cluster.wires?.all ?? [])].filter(([name]) => name.startsWith(wires));
  if (found.length === 0) throw new Error(`there is no wire ${wires}`);
  for (const [, wire] of found) wire.cut();
  return () => found.forEach(([, wire]) => wire.heal());
}

/** Stops and lets go again and again, as a starved machine does. */
function stutter(laboratory: Laboratory, service: ServiceName): Undo {
  let stopped = false;
  const stuttering = (async () => {
    while (!stopped) {
      const resume = pause(laboratory, service);
      await delay(STUTTER_MS);
      await resume();
      await delay(STUTTER_MS / 2);
    }
  })();
  return async () => {
    stopped = true;
    await stuttering;
  };
}

/** Streams of some seconds, which nobody here reads to their end. */
async function beginStreams({ cluster, tenants }: Laboratory): Promise<void> {
  await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const answer = await fetch(`${cluster.dev.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenants[0]?.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: MODEL,
          stream: true,
          messages: [{ role: 'user', content: '[[tokens:300]] [[rate:60]] [[fault:none]]' }],
        }),
      });
      void answer.text().catch(() => undefined);
    }),
  );
}

async function inLedger<Result>(
  { cluster }: Laboratory,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const url = new URL(cluster.engines.postgres.adminUrl);
  url.pathname = '/billing_ledger';
  const client = new Client({ connectionString: url.toString() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const givesUp = (laboratory: Laboratory, rate: number, kinds: string[]): Undo => {
  laboratory.emulator.setFaults({ rate, kinds });
  return () => laboratory.emulator.setFaults(USUAL_FAULTS);
};

export const DRILLS: readonly Drill[] = [
  {
    fault: 'every replica of auth is stopped (SIGSTOP)',
    alerts: ['ServiceGone', 'EdgeWithoutLease'],
    queries: ['rate(gateway_edge_proxy_key_watches_lost_total[5m])', 'gateway_auth_open_watches'],
    begin: async (laboratory) => pause(laboratory, 'auth'),
  },
  {
    fault: 'one replica of generation-query is killed again and again',
    alerts: ['ServiceRestarts'],
    queries: ['changes(process_start_time_seconds{process="generation-query"}[30m])'],
    async begin({ cluster }) {
      const replica = cluster.replicas.find(({ service }) => service === 'generation-query');
      for (let kills = 0; kills < 6 && replica; kills += 1) {
        const before = replica.starts();
        replica.kill();
        while (replica.starts() === before || !replica.isReady()) await delay(50);
        await delay(1_500);
      }
      return () => undefined;
    },
  },
  {
    fault: 'the ledger is cut off from PostgreSQL',
    alerts: ['RequestFailuresFast'],
    queries: [
      'sum by (route, code) (rate(gateway_edge_proxy_requests_total{code=~"internal_error|no_capacity"}[5m]))',
      'sum by (rpc, outcome) (rate(gateway_rpc_calls_total{outcome!="ok"}[5m]))',
    ],
    begin: async (laboratory) => cut(laboratory, 'billing_ledger → PostgreSQL'),
  },
  {
    fault: 'every replica of billing-ledger stops for 0.4 s, every 0.6 s',
    alerts: ['SlowAdmissionFast', 'EventLoopBlocked'],
    queries: [
      'histogram_quantile(0.95, sum by (rpc, le) (rate(gateway_rpc_call_duration_seconds_bucket[5m])))',
      'nodejs_eventloop_lag_p99_seconds > 0.1',
    ],
    begin: async (laboratory) => stutter(laboratory, 'billing-ledger'),
  },
  {
    fault: 'Kafka is killed and every replica of billing-ledger stopped',
    alerts: ['GenerationsSpooled'],
    queries: [
      'gateway_inference_router_spool_bytes',
      'rate(gateway_inference_router_spool_replayed_total[5m])',
    ],
    async begin(laboratory) {
      const { kafka } = laboratory.cluster.engines;
      // They have their holds by then, and end with nobody to tell.
      await beginStreams(laboratory);
      const resume = pause(laboratory, 'billing-ledger');
      await kafka.kill();
      return async () => {
        await resume();
        await kafka.start();
      };
    },
  },
  {
    fault: 'the ledger is cut off from PostgreSQL for 40 s while generations end',
    alerts: ['LateSettlementFast'],
    queries: [
      'gateway_events_lag',
      'histogram_quantile(0.99, sum by (le) (rate(gateway_billing_ledger_settlement_delay_seconds_bucket[5m])))',
    ],
    async begin(laboratory) {
      const heal = cut(laboratory, 'billing_ledger → PostgreSQL');
      await delay(40_000);
      await heal();
      return () => undefined;
    },
  },
  {
    fault: 'every replica of rate-limit is stopped while generations run',
    alerts: ['ReleasesDropped'],
    queries: [
      'sum(increase(gateway_edge_proxy_releases_dropped_total[15m]))',
      'gateway_billing_ledger_overdue_holds',
    ],
    begin: async (laboratory) => pause(laboratory, 'rate-limit'),
  },
  {
    fault: 'the provider answers 503 to every call',
    alerts: ['ProviderCircuitOpen'],
    queries: [
      'sum by (provider, model, outcome) (rate(gateway_inference_router_calls_total[5m]))',
      'gateway_inference_router_breaker_state',
    ],
    begin: async (laboratory) => givesUp(laboratory, 1, ['503']),
  },
  {
    fault: 'the provider reports tokens that nobody asked for',
    alerts: ['ProviderUsageNotBelieved'],
    queries: [
      'gateway_inference_router_usage_excess_usd_total',
      'sum by (reason) (gateway_inference_router_usage_counted_total)',
    ],
    begin: async (laboratory) => givesUp(laboratory, 1, [`wrong-usage:${WRONG_TOKENS}:${WRONG_TOKENS}`]),
  },
  {
    fault: 'an event in Kafka that nobody can read',
    alerts: ['DeadLettersWait'],
    queries: ['gateway_events_dead_letters'],
    async begin({ cluster }) {
      const log = createKafkaEventLog({
        connection: { brokers: [cluster.engines.kafka.broker] },
        clientId: 'drill',
        clock: systemClock,
        log: createSilentLogger(),
        metrics: createMetrics({ processMetrics: false }),
      });
      await log.append(TOPIC_GENERATION_FINISHED, [{ key: 'nobody', payload: Buffer.from('not protobuf') }]);
      await log.stop();
      return () => undefined;
    },
  },
  {
    fault: 'somebody changes an account by hand',
    alerts: ['LedgerBooksDiffer'],
    queries: ['gateway_ledger_reconciliation_differences'],
    async begin(laboratory) {
      const [tenant] = laboratory.tenants;
      const add = (nanoUsd: number) =>
        inLedger(laboratory, (client) =>
          client.query(
            `update billing_ledger.accounts set available_nano_usd = available_nano_usd + $2,
               credited_nano_usd = credited_nano_usd + $2 where organization_id = $1`,
            [tenant?.organizationId, nanoUsd],
          ),
        );
      await add(1);
      return async () => void (await add(-1));
    },
  },
];
