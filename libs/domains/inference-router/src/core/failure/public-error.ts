import { GatewayError } from '@gateway/errors';
import type { UpstreamFailure } from './upstream-failure';

/**
 * The error of a generation of which the caller has seen nothing.
 *
 * @param providerCalled whether any target was called, not just the one of this failure.
 */
export function errorBeforeFirstEvent(failure: UpstreamFailure, providerCalled: boolean): GatewayError {
  return new GatewayError(failure.rule.code, {
    providerCalled,
    ...(failure.publicMessage === undefined ? {} : { message: failure.publicMessage }),
    ...(failure.param === undefined ? {} : { param: failure.param }),
    ...(failure.metadata === undefined ? {} : { metadata: failure.metadata }),
    internalMessage: failure.message,
    cause: failure,
  });
}

/**
 * The error of a generation that broke off. It is billed for what was
 * produced, so the codes that promise otherwise are out of the question.
 */
export function errorAfterFirstEvent(failure: UpstreamFailure): GatewayError {
  const timedOut = failure.kind === 'timed_out' || failure.kind === 'connect_timed_out';
  return new GatewayError(timedOut ? 'request_timeout' : 'upstream_error', {
    message: timedOut
      ? 'The model stopped answering before the end.'
      : 'The model provider failed before the end of the answer.',
    internalMessage: failure.message,
    cause: failure,
  });
}
