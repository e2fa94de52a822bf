import { LATENCY_BOUNDS_MS } from '../../core/latency-histogram';

const DURATION = 'latency_ms + generation_time_ms';
const FIRST_TOKEN = 'time_to_first_token_ms';
/** The time until a failure says nothing about responses. */
const DID_NOT_FAIL = `status <> 'failed'`;

export const durationColumns = LATENCY_BOUNDS_MS.map((bound) => `duration_to_${bound}_ms`);
export const firstTokenColumns = LATENCY_BOUNDS_MS.map((bound) => `first_token_to_${bound}_ms`);

type Sum = readonly [column: string, ofGenerations: string];

/** The columns of every rollup, with their expressions over generations. */
const USAGE_SUMS: readonly Sum[] = [
  ['requests', 'count(*)'],
  ['errors', `count(*) filter (where status = 'failed')`],
  ['cancelled', `count(*) filter (where status = 'cancelled')`],
  ...[
    'prompt_tokens',
    'cached_tokens',
    'cache_write_tokens',
    'cache_write_1h_tokens',
    'image_tokens',
    'completion_tokens',
    'reasoning_tokens',
    'cost_nano_usd',
    'charged_nano_usd',
  ].map((column) => [column, `sum(${column})`] as const),
];

const MARGIN_SUMS: readonly Sum[] = [
  ['provider_cost_nano_usd', 'coalesce(sum(provider_cost_nano_usd), 0)'],
  [
    'charged_with_provider_cost_nano_usd',
    'coalesce(sum(charged_nano_usd) filter (where provider_cost_nano_usd is not null), 0)',
  ],
];

/** The columns of the rollups by model, key, project and API. */
const SUMS: readonly Sum[] = [
  ...USAGE_SUMS,
  ...MARGIN_SUMS,
  ['duration_ms', `coalesce(sum(${DURATION}) filter (where ${DID_NOT_FAIL}), 0)`],
  ['first_token_count', `count(${FIRST_TOKEN})`],
  ['first_token_ms', `coalesce(sum(${FIRST_TOKEN}), 0)`],
  ...histogramSums(durationColumns, DURATION, DID_NOT_FAIL),
  ...histogramSums(firstTokenColumns, FIRST_TOKEN),
];

/** The columns of the rollups by provider. */
const PROVIDER_SUMS: readonly Sum[] = [
  ...USAGE_SUMS.filter(([column]) =>
    ['requests', 'errors', 'cost_nano_usd', 'charged_nano_usd'].includes(column),
  ),
  ...MARGIN_SUMS,
];

const nameOf = ([column]: Sum): string => column;
const overGenerations = (sums: readonly Sum[]): string =>
  sums.map(([column, expression]) => `${expression} as ${column}`).join(', ');
const overRollups = (sums: readonly Sum[]): string =>
  sums.map(([column]) => `sum(${column})::bigint as ${column}`).join(', ');

const rollupColumns = SUMS.map(nameOf);
export const usageColumns = USAGE_SUMS.map(nameOf);
export const providerColumns = PROVIDER_SUMS.map(nameOf);
/** Sums over generations. */
export const sumsOfGenerations = overGenerations(SUMS);
export const usageOfGenerations = overGenerations(USAGE_SUMS);
export const providerSumsOfGenerations = overGenerations(PROVIDER_SUMS);
/** Sums over rollups, as int8. */
export const sumsOfRollups = overRollups(SUMS);
export const usageOfRollups = overRollups(USAGE_SUMS);

/** Adds sums to a rollup table. Rows are locked in key order. */
export function addToRollup(
  table: string,
  key: string,
  sums: string,
  columns: readonly string[] = rollupColumns,
): string {
  const names = columns.join(', ');
  return `
    insert into ${table} as rollup (${key}, ${names})
    select ${key}, ${names} from ${sums} order by ${key}
    on conflict (${key}) do update set
      ${columns.map((column) => `${column} = rollup.${column} + excluded.${column}`).join(', ')}`;
}

function histogramSums(
  columns: readonly string[],
  value: string,
  condition = 'true',
): (readonly [string, string])[] {
  return columns.map((column, index) => {
    const below = LATENCY_BOUNDS_MS[index - 1];
    const above = below === undefined ? '' : ` and ${value} > ${below}`;
    const upTo = `${value} <= ${LATENCY_BOUNDS_MS[index]}`;
    return [column, `count(*) filter (where ${condition} and ${upTo}${above})`];
  });
}
