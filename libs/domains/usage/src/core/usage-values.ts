import { refuse, type Refusal } from '@gateway/errors';

/** The end user of a request, or the value of one of its tags. Sums by them are separate from other sums. */
export type ValueDimension = 'user' | `tag:${string}`;

/** The distinct values of an organization, dimension and day that have sums of their own. */
export const MAX_VALUES_PER_DAY = 1_000;

/** The value that sums by a dimension are of. */
export interface ValueGroup {
  /** Undefined: requests without a value, or with other values. */
  readonly value: string | undefined;
  /** Whether the sums are of the values beyond the limit of a day. */
  readonly isOther: boolean;
}

interface Combination {
  /** Other dimensions of the sums, and the filters. */
  readonly dimensions: readonly string[];
  readonly filters: readonly (string | undefined)[];
}

/** Sums by value have no other dimension than the time. */
export function checkCombination(param: string, { dimensions, filters }: Combination): Refusal | undefined {
  if (dimensions.length === 0 && filters.every((filter) => filter === undefined)) return undefined;
  const message =
    'Usage by end user or tag has no other dimension, and cannot be filtered by model, key, project, API or run.';
  return refuse('invalid_request', { param, message });
}
