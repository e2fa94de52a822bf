import { UpstreamFailure } from '../failure/upstream-failure';
import { isFailedFinish } from './finish-reason';
import type { JsonObject } from './json';

/** The failure of a choice, reported as an error object or a finish_reason; undefined when it did not fail. */
export function failureIn(
  choice: JsonObject,
  errorOf: (holder: unknown) => UpstreamFailure | undefined,
): UpstreamFailure | undefined {
  const error = errorOf(choice);
  if (error) return error;
  const reason = choice['finish_reason'];
  if (!isFailedFinish(reason)) return undefined;
  return new UpstreamFailure('failed', { detail: `the provider sent the finish_reason "${String(reason)}"` });
}
