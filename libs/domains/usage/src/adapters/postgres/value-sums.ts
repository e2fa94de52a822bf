import { usageColumns, usageOfRollups } from './rollup-columns';

interface Rollups {
  readonly time: string;
  readonly parameter: string;
  readonly all: string;
  readonly byValue: string;
}

const ROLLUPS: Readonly<Record<'hour' | 'day', Rollups>> = {
  hour: {
    time: 'hour_unix_ms',
    parameter: 'bigint',
    all: 'usage_rollups_hourly',
    byValue: 'usage_value_rollups_hourly',
  },
  day: { time: 'day', parameter: 'date', all: 'usage_rollups', byValue: 'usage_value_rollups' },
};

/**
 * $1 organization, $2 dimension, $3 and $4 first and last time. The sums of each value, and of all requests minus
 * those with a value, which are those without one.
 */
const partsOf = ({ time, parameter, all, byValue }: Rollups, last: '<' | '<='): string => {
  const period = `organization_id = $1 and ${time} >= $3::${parameter} and ${time} ${last} $4::${parameter}`;
  const columns = usageColumns.join(', ');
  return `(
    select ${time}, is_other, value, ${columns} from ${byValue} where dimension = $2 and ${period}
    union all
    select ${time}, false, '', ${columns} from ${all} where ${period}
    union all
    select ${time}, false, '', ${usageColumns.map((column) => `-${column}`).join(', ')} from ${byValue}
    where dimension = $2 and ${period}
  ) parts`;
};

/** $5 max rows, $6 the values that are shown, or null for all. */
const series = (granularity: 'hour' | 'day', start: string) => ({
  name: `usage.series_of_values_by_${granularity}`,
  text: `
  select ${start}::bigint as start_unix_ms,
         case when not is_other and ($6::text[] is null or value = any ($6)) then value end as value, ${usageOfRollups}
  from ${partsOf(ROLLUPS[granularity], '<')}
  group by 1, 2
  having sum(requests) > 0
  order by 1, 2
  limit $5`,
});

export const seriesByValue = {
  hour: series('hour', 'hour_unix_ms'),
  day: series('day', 'extract(epoch from day) * 1000'),
};

/**
 * $5 max rows, $6 offset, $7 and $8 first and last hour. Refused requests have no value.
 *
 * @param order - a column or an expression.
 */
export const groupsByValue = (granularity: 'hour' | 'day', order: string, direction: 'asc' | 'desc') => `
  with settled as (
    select is_other, value as group_id, ${usageOfRollups}
    from ${partsOf(ROLLUPS[granularity], '<')}
    group by 1, 2
    having sum(requests) > 0
  ), refused as (
    select false as is_other, '' as group_id, sum(refused)::bigint as refused
    from error_counts_hourly
    where organization_id = $1 and hour_unix_ms >= $7 and hour_unix_ms < $8
    having sum(refused) > 0
  )
  select *, count(*) over () as total
  from settled full join refused using (is_other, group_id)
  order by coalesce(${order}, 0) ${direction}, is_other, group_id
  offset $6 limit $5`;

/** $5 max rows, $6 whether to group by day. */
export const SUM_USAGE_BY_VALUE = {
  name: 'usage.sum_by_value',
  text: `
  select case when $6 then to_char(day, 'YYYY-MM-DD') end as day, is_other, nullif(value, '') as value, ${usageOfRollups}
  from ${partsOf(ROLLUPS.day, '<=')}
  group by 1, 2, 3
  having sum(requests) > 0
  order by 1, 2, 3
  limit $5`,
};
