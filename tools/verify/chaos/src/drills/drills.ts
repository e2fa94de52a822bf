import { setTimeout as delay } from 'node:timers/promises';
import { TOPIC_GENERATION_FINISHED } from '@gateway/events';
import { createKafkaEventLog } from '@gateway/events/kafka';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import type { Laboratory } from '../laboratory';
import { beginStreams, cut, givesUp, inDatabase, lock, pause, stutter, type Undo } from './acts';

/** A fault, and which alerts are there for it. */
export interface Drill {
  readonly fault: string;
  readonly alerts: readonly string[];
  /** What its runbooks have one look at. */
  readonly queries: readonly string[];
  /** How long its alerts may take, where a threshold is a time of its own. */
  readonly patienceMs?: number;
  /** @returns mends it. */
  begin(laboratory: Laboratory): Promise<Undo>;
}

const HOUR_MS = 3_600_000;
const WRONG_TOKENS = 900_000;
/** Both comparisons are late after a quarter of an hour, which is no window that could be shortened. */
const NOT_RECONCILED_MS = 17 * 60_000;

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
    fault: 'the ledger is cut off from PostgreSQL while generations run: none is booked',
    alerts: ['LateSettlementFast'],
    queries: [
      'gateway_events_lag',
      'histogram_quantile(0.99, sum by (le) (rate(gateway_billing_ledger_settlement_delay_seconds_bucket[5m])))',
    ],
    async begin(laboratory) {
      await beginStreams(laboratory);
      return cut(laboratory, 'billing_ledger → PostgreSQL');
    },
  },
  {
    fault: 'every replica of usage-aggregator is stopped (SIGSTOP)',
    alerts: ['EventsWait'],
    queries: [
      'max by (topic, group) (gateway_events_lag)',
      'sum by (topic, group) (rate(gateway_events_handled_total[5m]))',
      'sum by (topic) (rate(gateway_events_appended_total[5m]))',
    ],
    begin: async (laboratory) => pause(laboratory, 'usage-aggregator'),
  },
  {
    fault: 'Kafka is killed',
    alerts: ['EventsUncounted'],
    queries: ['gateway_events_lag', 'sum by (kept_in) (rate(gateway_inference_router_finished_total[5m]))'],
    async begin({ cluster }) {
      const { kafka } = cluster.engines;
      await kafka.kill();
      return () => kafka.start();
    },
  },
  {
    fault: 'a transaction that nobody ends has locked the account of an organization whose streams run',
    alerts: ['HoldsOverdue'],
    queries: [
      'max(gateway_billing_ledger_overdue_holds)',
      'sum(rate(gateway_billing_ledger_voids_total{by="reaper"}[5m]))',
    ],
    async begin(laboratory) {
      await beginStreams(laboratory);
      return lock(
        laboratory,
        'billing_ledger',
        'select from billing_ledger.accounts where organization_id = $1 for update',
        [laboratory.tenants[0]?.organizationId],
      );
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
        inDatabase(laboratory, 'billing_ledger', (client) =>
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
  {
    fault: 'usage is told of a settlement, by hand, that it does not have',
    alerts: ['UsageDiffers'],
    queries: ['max by (kind) (gateway_usage_reconciliation_differences)'],
    async begin(laboratory) {
      // Hours are compared when they are over; this cluster has not lived through one.
      const hourUnixMs = (Math.floor(Date.now() / HOUR_MS) - 2) * HOUR_MS;
      const key = [laboratory.tenants[0]?.organizationId, hourUnixMs];
      await inDatabase(laboratory, 'usage', (client) =>
        client.query(
          `insert into usage.reconciliation_told (organization_id, from_unix_ms, hour_unix_ms, until_unix_ms,
             generations, cost_nano_usd, charged_nano_usd) values ($1, $2, $2, $3, 1, 5, 5)`,
          [...key, hourUnixMs + HOUR_MS],
        ),
      );
      return async () => {
        await inDatabase(laboratory, 'usage', (client) =>
          client.query(
            'delete from usage.reconciliation_told where organization_id = $1 and from_unix_ms = $2',
            key,
          ),
        );
      };
    },
  },
  {
    fault: 'something holds the locks of both comparisons for a quarter of an hour',
    alerts: ['LedgerNotReconciled', 'UsageNotReconciled'],
    queries: [
      'time() - max(gateway_ledger_reconciliation_last_run_timestamp_seconds)',
      'time() - max(gateway_usage_reconciliation_last_run_timestamp_seconds)',
    ],
    patienceMs: NOT_RECONCILED_MS,
    async begin(laboratory) {
      const byName = 'select pg_advisory_lock(hashtextextended($1, 0))';
      const undos = [
        await lock(laboratory, 'billing_ledger', byName, ['billing_ledger.reconcile_accounts']),
        await lock(laboratory, 'usage', byName, ['usage.reconcile_usage']),
      ];
      return async () => {
        for (const undo of undos) await undo();
      };
    },
  },
];
