import { UpstreamFailure } from '../failure/upstream-failure';
import { isFailedFinish } from './finish-reason';
import type { JsonObject } from './json';

/** A choice that ended with a failure, whichever way the provider says so. */
export function failureIn(
  choice: JsonObject,
  errorOf: (holder: unknown) => UpstreamFailure | undefined,
): UpstreamFailure | undefined {
  const error = errorOf(choice);
  if (error) return error;
  const reason = choice['finish_reason'];
  if (!isFailedFinish(reason)) return undefined;
  return new UpstreamFailure('failed', { detail: `the provider ended its answer with "${String(reason)}"` });
}
