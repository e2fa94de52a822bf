import { GatewayError } from '@gateway/errors';
import type { UpstreamFailure } from './upstream-failure';

/**
 * The error of a generation that failed before its first event.
 *
 * @param options.providerCalled whether any target was called, not only the one of this failure.
 */
export function errorBeforeFirstEvent(
  failure: UpstreamFailure,
  options: Pick<GatewayError, 'providerCalled' | 'generationRecorded'>,
): GatewayError {
  return new GatewayError(failure.rule.code, {
    ...options,
    message: failure.publicMessage,
    param: failure.param,
    metadata: failure.metadata,
    internalMessage: failure.message,
    cause: failure,
  });
}

/**
 * The error of a generation that failed after its first event. Its output is
 * billed, so error codes that promise "not billed" are not used.
 */
export function errorAfterFirstEvent(failure: UpstreamFailure): GatewayError {
  const timedOut = failure.kind === 'timed_out' || failure.kind === 'connect_timed_out';
  return new GatewayError(timedOut ? 'request_timeout' : 'upstream_error', {
    message: timedOut
      ? 'The model provider timed out before the response was complete.'
      : 'The model provider failed before the response was complete.',
    internalMessage: failure.message,
    cause: failure,
  });
}
