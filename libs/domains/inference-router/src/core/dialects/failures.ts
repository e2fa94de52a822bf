import { UpstreamFailure, type FailureKind } from '../failure/upstream-failure';

/**
 * The error of a request that the dialect cannot express. Nothing was sent.
 *
 * @param param the client's field.
 */
export function refused(param: string, publicMessage: string): UpstreamFailure {
  return new UpstreamFailure('rejected', {
    detail: `the dialect cannot express ${param}`,
    publicMessage,
    param,
  });
}

/** The same, for a value of the field that is the problem. */
export function refusedValue(param: string, problem: string): UpstreamFailure {
  return refused(param, `Invalid value for '${param}': ${problem}`);
}

/** The failure of a response that breaks the provider's protocol. */
export function malformed(what: string): UpstreamFailure {
  return new UpstreamFailure('failed', { detail: `the provider sent ${what}` });
}

/** For errors without a type that says more, also those of proxies on the way. */
export function kindOfStatus(status: number): FailureKind {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return 'rejected';
    case 408:
      return 'timed_out';
    case 409:
    case 424:
    case 425:
    case 499:
      return 'failed';
    case 429:
      return 'throttled';
    // Some providers use 529 for "overloaded".
    case 503:
    case 529:
      return 'unavailable';
    default:
      // Redirects are not followed. They and other 4xx mean that our address, key or model mapping is wrong.
      return status >= 500 ? 'failed' : 'misconfigured';
  }
}
