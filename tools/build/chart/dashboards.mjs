// Definitions of the Grafana dashboards: a panel is a title, a unit and queries. `npm run chart` generates the JSON files.

/** @typedef {{ title: string, unit?: string, queries: readonly [expr: string, legend: string][], stacked?: boolean, description?: string }} Panel */

const rate = (metric, by, selector = '') => `sum by (${by}) (rate(${metric}${selector}[$__rate_interval]))`;
const quantile = (q, metric, by = '', selector = '') =>
  `histogram_quantile(${q}, sum by (${by === '' ? 'le' : `le, ${by}`}) (rate(${metric}_bucket${selector}[$__rate_interval])))`;
const quantiles = (metric, selector = '') =>
  /** @type {[string, string][]} */ ([
    [quantile(0.5, metric, '', selector), 'p50'],
    [quantile(0.95, metric, '', selector), 'p95'],
    [quantile(0.99, metric, '', selector), 'p99'],
  ]);

/** @type {Readonly<Record<string, { title: string, rows: Readonly<Record<string, readonly Panel[]>> }>>} */
export const DASHBOARDS = {
  overview: {
    title: 'Inference gateway: overview',
    rows: {
      'Public API': [
        {
          title: 'Requests',
          unit: 'reqps',
          stacked: true,
          queries: [[rate('gateway_edge_proxy_requests_total', 'route'), '{{route}}']],
        },
        {
          title: 'Errors by code',
          unit: 'reqps',
          queries: [[rate('gateway_edge_proxy_requests_total', 'code', '{code!="ok"}'), '{{code}}']],
        },
        {
          title: 'Duration of chat completions',
          unit: 's',
          queries: quantiles('gateway_edge_proxy_request_duration_seconds', '{route="chat_completions"}'),
        },
        {
          title: 'Open streams and requests',
          queries: [
            ['sum(gateway_edge_proxy_streams_open)', 'streams'],
            ['sum(gateway_edge_proxy_requests_in_flight)', 'requests'],
          ],
        },
      ],
      'Latency and limits': [
        {
          title: 'Time before the provider call',
          unit: 's',
          description: 'Checks, limits and the hold, from the end of the request body.',
          queries: quantiles('gateway_edge_proxy_admission_seconds'),
        },
        {
          title: 'Time to first event by provider, p95',
          unit: 's',
          queries: [
            [quantile(0.95, 'gateway_inference_router_first_event_seconds', 'provider'), '{{provider}}'],
          ],
        },
        {
          title: 'Tokens',
          unit: 'short',
          stacked: true,
          queries: [[rate('gateway_edge_proxy_tokens_total', 'kind'), '{{kind}} per second']],
        },
        {
          title: 'Requests refused by limits',
          unit: 'reqps',
          queries: [
            [rate('gateway_rate_limit_decisions_total', 'outcome', '{outcome!="admitted"}'), '{{outcome}}'],
          ],
        },
      ],
      Objectives: [
        {
          title: 'Failed requests (objective: below 0.1 %)',
          unit: 'percentunit',
          queries: [
            ['gateway:request_failure:ratio_rate1h', '1 hour'],
            ['gateway:request_failure:ratio_rate3d', '3 days'],
          ],
        },
        {
          title: 'Admission over 100 ms (objective: below 1 %)',
          unit: 'percentunit',
          queries: [
            ['gateway:slow_admission:ratio_rate1h', '1 hour'],
            ['gateway:slow_admission:ratio_rate3d', '3 days'],
          ],
        },
        {
          title: 'Settled over 30 s late (objective: below 0.1 %)',
          unit: 'percentunit',
          queries: [
            ['gateway:late_settlement:ratio_rate1h', '1 hour'],
            ['gateway:late_settlement:ratio_rate3d', '3 days'],
          ],
        },
      ],
    },
  },
  money: {
    title: 'Inference gateway: money',
    rows: {
      Holds: [
        {
          title: 'Holds decided',
          unit: 'ops',
          queries: [[rate('gateway_billing_ledger_holds_total', 'outcome'), '{{outcome}}']],
        },
        {
          title: 'Open holds',
          queries: [
            ['max(gateway_billing_ledger_open_holds)', 'open'],
            ['max(gateway_billing_ledger_overdue_holds)', 'overdue'],
          ],
        },
        {
          title: 'Age of the oldest hold',
          unit: 's',
          queries: [['max(gateway_billing_ledger_oldest_hold_age_seconds)', 'age']],
        },
        {
          title: 'Holds voided',
          unit: 'ops',
          queries: [[rate('gateway_billing_ledger_voids_total', 'reason'), '{{reason}}']],
        },
      ],
      Settlement: [
        {
          title: 'Settlements',
          unit: 'ops',
          queries: [[rate('gateway_billing_ledger_settlements_total', 'outcome'), '{{outcome}}']],
        },
        {
          title: 'Delay from finish to settlement',
          unit: 's',
          queries: quantiles('gateway_billing_ledger_settlement_delay_seconds'),
        },
        {
          title: 'Delay from settlement to usage',
          unit: 's',
          queries: quantiles('gateway_usage_aggregator_visible_delay_seconds'),
        },
        {
          title: 'Spooled on router disks',
          unit: 'bytes',
          queries: [['sum(gateway_inference_router_spool_bytes)', 'spooled']],
        },
      ],
      Reconciliation: [
        {
          title: 'Differences',
          queries: [
            ['max by (kind) (gateway_billing_ledger_reconciliation_differences)', 'ledger: {{kind}}'],
            ['max by (kind) (gateway_usage_aggregator_reconciliation_differences)', 'usage: {{kind}}'],
          ],
        },
        {
          title: 'Time since the last run',
          unit: 's',
          queries: [
            ['time() - max(gateway_billing_ledger_reconciliation_last_run_timestamp_seconds)', 'ledger'],
            ['time() - max(gateway_usage_aggregator_reconciliation_last_run_timestamp_seconds)', 'usage'],
          ],
        },
        {
          title: 'Uncollected cost per day',
          unit: 'currencyUSD',
          queries: [
            ['sum(increase(gateway_billing_ledger_uncollected_nano_usd_total[1d])) / 1e9', 'uncollected'],
          ],
        },
        {
          title: 'Rejected provider usage per day',
          unit: 'currencyUSD',
          queries: [
            [
              'sum by (provider, model) (increase(gateway_inference_router_usage_excess_usd_total[1d]))',
              '{{provider}} {{model}}',
            ],
          ],
        },
      ],
    },
  },
  services: {
    title: 'Inference gateway: services',
    rows: {
      'Calls between services': [
        { title: 'Calls', unit: 'ops', queries: [[rate('gateway_rpc_calls_total', 'rpc'), '{{rpc}}']] },
        {
          title: 'Failed calls',
          unit: 'ops',
          queries: [
            [rate('gateway_rpc_calls_total', 'rpc, outcome', '{outcome!="ok"}'), '{{rpc}} {{outcome}}'],
          ],
        },
        {
          title: 'Call duration, p95',
          unit: 's',
          queries: [[quantile(0.95, 'gateway_rpc_call_duration_seconds', 'rpc'), '{{rpc}}']],
        },
        {
          title: 'Edges with a key lease',
          queries: [
            ['sum(gateway_edge_proxy_key_lease_live)', 'with lease'],
            ['count(gateway_edge_proxy_key_lease_live)', 'all'],
          ],
        },
      ],
      Events: [
        {
          title: 'Consumer lag',
          queries: [['max by (topic, group) (gateway_events_lag)', '{{topic}} for {{group}}']],
        },
        {
          title: 'Events handled',
          unit: 'ops',
          queries: [[rate('gateway_events_handled_total', 'topic, group'), '{{topic}} by {{group}}']],
        },
        {
          title: 'Retries',
          unit: 'ops',
          queries: [[rate('gateway_events_retried_total', 'topic, group'), '{{topic}} by {{group}}']],
        },
        {
          title: 'Dead letters',
          queries: [['max by (topic, group) (gateway_events_dead_letters)', '{{topic}} of {{group}}']],
        },
      ],
      Providers: [
        {
          title: 'Calls to providers',
          unit: 'ops',
          queries: [
            [rate('gateway_inference_router_calls_total', 'provider, outcome'), '{{provider}} {{outcome}}'],
          ],
        },
        {
          title: 'Generations in flight',
          queries: [['sum(gateway_inference_router_in_flight)', 'generations']],
        },
        {
          title: 'Circuits (0 closed, 1 half open, 2 open)',
          queries: [
            ['max by (provider, model) (gateway_inference_router_breaker_state)', '{{provider}} {{model}}'],
          ],
        },
        {
          title: 'Retries and failovers',
          unit: 'ops',
          queries: [
            [rate('gateway_inference_router_retries_total', 'provider'), 'retry {{provider}}'],
            [rate('gateway_inference_router_failovers_total', 'provider'), 'failover to {{provider}}'],
          ],
        },
      ],
      Processes: [
        {
          title: 'CPU',
          unit: 'percentunit',
          queries: [[rate('process_cpu_seconds_total', 'process'), '{{process}}']],
        },
        {
          title: 'Memory',
          unit: 'bytes',
          queries: [['max by (process) (process_resident_memory_bytes)', '{{process}}']],
        },
        {
          title: 'Event loop, p99',
          unit: 's',
          queries: [['max by (process) (nodejs_eventloop_lag_p99_seconds)', '{{process}}']],
        },
        { title: 'Replicas', queries: [['count by (process) (process_start_time_seconds)', '{{process}}']] },
      ],
    },
  },
};

const COLUMNS = 24;
const HEIGHT = 8;
const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** @returns a dashboard in the JSON format of Grafana. */
export function renderDashboard(name, { title, rows }) {
  const panels = [];
  let y = 0;
  for (const [heading, shown] of Object.entries(rows)) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: heading,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    const width = COLUMNS / shown.length;
    shown.forEach((panel, index) =>
      panels.push(renderPanel(panel, panels.length + 1, { x: index * width, y: y + 1, w: width, h: HEIGHT })),
    );
    y += HEIGHT + 1;
  }
  return {
    uid: `inference-gateway-${name}`,
    title,
    tags: ['inference-gateway'],
    timezone: 'utc',
    editable: true,
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} },
      ],
    },
    links: [
      { type: 'dashboards', title: 'Inference gateway', tags: ['inference-gateway'], asDropdown: false },
    ],
    panels,
  };
}

/** @param {Panel} panel */
function renderPanel({ title, description, unit = 'short', queries, stacked = false }, id, gridPos) {
  return {
    id,
    type: 'timeseries',
    title,
    ...(description === undefined ? {} : { description }),
    datasource: DATA_SOURCE,
    gridPos,
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATA_SOURCE,
      expr,
      legendFormat,
    })),
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        custom: {
          lineWidth: 1,
          fillOpacity: stacked ? 30 : 5,
          showPoints: 'never',
          stacking: { mode: stacked ? 'normal' : 'none' },
        },
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}
