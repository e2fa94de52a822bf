import { HOUR_MS } from '@gateway/base';
import { MAX_VALUES_PER_DAY } from '../../core/usage-values';
import { addToRollup, usageColumns, usageOfGenerations, usageOfRollups } from './rollup-columns';

/** The columns of generations that the sums read. */
const OF_GENERATION = `
  organization_id, day, created_unix_ms / ${HOUR_MS} * ${HOUR_MS} as hour_unix_ms, status, prompt_tokens, cached_tokens,
  cache_write_tokens, cache_write_1h_tokens, image_tokens, completion_tokens, reasoning_tokens, cost_nano_usd,
  charged_nano_usd`;

const VALUES_OF_DAY = `
  from usage_value_rollups known
  where known.organization_id = one.organization_id and known.dimension = one.dimension and known.day = one.day
    and not known.is_other`;

/**
 * Common table expressions that add the generations of `fresh` to the sums by value. New values of a dimension and day
 * beyond the limit are added to its other values. Statements that run at once may exceed the limit together.
 * `new_values` is materialized, so that the values of a day are counted once.
 */
export const ADD_TO_VALUE_ROLLUPS = `
  valued as (
    select 'user' as dimension, external_user as value, ${OF_GENERATION} from fresh where external_user <> ''
    union all
    select 'tag:' || tag.name, tag.value, ${OF_GENERATION}
    from fresh cross join lateral jsonb_each_text(tags) as tag (name, value)
  ), hours_by_value as (
    select organization_id, dimension, day, hour_unix_ms, value, ${usageOfGenerations}
    from valued
    group by 1, 2, 3, 4, 5
  ), day_values as (
    select one.*, exists (select ${VALUES_OF_DAY} and known.value = one.value) as is_known
    from (select distinct organization_id, dimension, day, value from hours_by_value) one
  ), new_values as materialized (
    select one.*, ${MAX_VALUES_PER_DAY} - (
      select count(*) from (select ${VALUES_OF_DAY} limit ${MAX_VALUES_PER_DAY}) known
    ) as max_values
    from (select organization_id, dimension, day from day_values where not is_known group by 1, 2, 3) one
  ), other_values as (
    select organization_id, dimension, day, value
    from (
      select day_values.*, max_values,
        row_number() over (partition by organization_id, dimension, day order by value) as position
      from day_values join new_values using (organization_id, dimension, day)
      where not is_known
    ) ranked
    where position > max_values
  ), value_hours as (
    select organization_id, dimension, day, hour_unix_ms, others.value is not null as is_other,
      case when others.value is null then hours_by_value.value else '' end as value, ${usageOfRollups}
    from hours_by_value left join other_values others using (organization_id, dimension, day, value)
    group by 1, 2, 3, 4, 5, 6
  ), value_days as (
    select organization_id, dimension, day, is_other, value, ${usageOfRollups} from value_hours
    group by 1, 2, 3, 4, 5
  ), added_to_value_hours as (
    ${addToRollup(
      'usage_value_rollups_hourly',
      'organization_id, hour_unix_ms, dimension, is_other, value',
      'value_hours',
      usageColumns,
    )}
  ), added_to_value_days as (
    ${addToRollup(
      'usage_value_rollups',
      'organization_id, day, dimension, is_other, value',
      'value_days',
      usageColumns,
    )}
  )`;
