import { apiTypes, DAY_MS, isUtcDay, utcDay, type ApiType, type UnixMs, type UtcDay } from '@gateway/base';
import { isRefusal, type Refusal, refuse } from '@gateway/errors';
import { RUN_ID_PATTERN } from '../spend-limits/parse-spend-limits';

/** In the order of the response, which is followed by that of a tag. */
export const usageDimensions = ['day', 'model', 'api_key', 'project', 'api_type', 'user'] as const;
export const TAG_DIMENSION_PATTERN = /^tag:[A-Za-z0-9_.-]{1,64}$/;
export type TagDimension = `tag:${string}`;
export type UsageDimension = (typeof usageDimensions)[number] | TagDimension;

export interface UsageQuery {
  /** Both days are included. */
  readonly startDate: UtcDay;
  readonly endDate: UtcDay;
  readonly groupBy: readonly UsageDimension[];
  readonly modelId?: string;
  /** Only generations of this run. */
  readonly runId?: string;
  /** Only generations that were admitted in this project. */
  readonly projectId?: string;
  /** Only generations of this API. */
  readonly apiType?: ApiType;
}

const NAMES = ['start_date', 'end_date', 'group_by', 'model', 'run_id', 'project_id', 'api_type'] as const;
const DEFAULT_DAYS = 30;
export const MAX_USAGE_DAYS = 90;
export const MAX_MODEL_ID_LENGTH = 256;
export const PROJECT_ID_PATTERN = /^proj-[0-9A-Z]{26}$/;

/**
 * Parses the query of GET /v1/usage. Unknown names are ignored; a repeated name
 * is an error.
 *
 * @returns `invalid_request` with the name as its param, if invalid.
 */
export function parseUsageQuery(query: Readonly<Record<string, unknown>>, now: UnixMs): UsageQuery | Refusal {
  const values: Partial<Record<(typeof NAMES)[number], string>> = {};
  for (const name of NAMES) {
    const value = Object.hasOwn(query, name) ? query[name] : undefined;
    if (value === undefined) continue;
    if (typeof value !== 'string') return invalid(name, 'it is given more than once.');
    values[name] = value;
  }
  const range = readRange(values.start_date, values.end_date, now);
  if (isRefusal(range)) return range;
  const groupBy = readGroupBy(values.group_by);
  if (isRefusal(groupBy)) return groupBy;
  if (values.model === '' || (values.model ?? '').length > MAX_MODEL_ID_LENGTH) {
    return invalid('model', 'it is not a model id.');
  }
  if (values.run_id !== undefined && !RUN_ID_PATTERN.test(values.run_id)) {
    return invalid('run_id', 'it is not the ID of a run.');
  }
  if (values.project_id !== undefined && !PROJECT_ID_PATTERN.test(values.project_id)) {
    return invalid('project_id', 'it is not the ID of a project.');
  }
  const apiType = apiTypes.find((each) => each === values.api_type);
  if (values.api_type !== undefined && apiType === undefined) {
    return invalid('api_type', `it must be one of ${apiTypes.join(', ')}.`);
  }
  return {
    ...range,
    groupBy,
    modelId: values.model,
    runId: values.run_id,
    projectId: values.project_id,
    apiType,
  };
}

function readRange(
  start: string | undefined,
  end: string | undefined,
  now: UnixMs,
): Pick<UsageQuery, 'startDate' | 'endDate'> | Refusal {
  if (start !== undefined && !isDay(start)) return invalid('start_date', 'it must be a date as YYYY-MM-DD.');
  if (end !== undefined && !isDay(end)) return invalid('end_date', 'it must be a date as YYYY-MM-DD.');
  const endDate = end ?? utcDay(now);
  const startDate = start ?? addDays(endDate, 1 - DEFAULT_DAYS);
  if (startDate > endDate) return invalid('start_date', 'it is after end_date.');
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
  if (days > MAX_USAGE_DAYS) {
    return invalid('start_date', `the range has ${days} days; the maximum is ${MAX_USAGE_DAYS}.`);
  }
  return { startDate, endDate };
}

/** PostgreSQL has no year 0. */
const FIRST_DAY = '0001-01-01' as UtcDay;

function isDay(text: string): text is UtcDay {
  return isUtcDay(text) && text >= FIRST_DAY;
}

function addDays(day: UtcDay, days: number): UtcDay {
  return utcDay(Math.max(Date.parse(day) + days * DAY_MS, Date.parse(FIRST_DAY)) as UnixMs);
}

function readGroupBy(text: string | undefined): readonly UsageDimension[] | Refusal {
  if (text === undefined) return ['day', 'model'];
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const tags = names.filter(isTagDimension);
  const known: readonly string[] = [...usageDimensions, ...tags];
  if (!names.every((name) => known.includes(name))) {
    return invalid(
      'group_by',
      `it must be a comma-separated list of ${usageDimensions.join(', ')}, tag:NAME.`,
    );
  }
  if (tags.length > 1) return invalid('group_by', 'it may have one tag.');
  return [...usageDimensions.filter((dimension) => names.includes(dimension)), ...tags];
}

export function isTagDimension(name: string): name is TagDimension {
  return TAG_DIMENSION_PATTERN.test(name);
}

function invalid(param: string, problem: string): Refusal {
  return refuse('invalid_request', { message: `Invalid value for '${param}': ${problem}`, param });
}
