import { UpstreamFailure } from '../../failure/upstream-failure';

/** The error of a request that Gemini cannot express. */
export function refused(param: string, problem: string): UpstreamFailure {
  return new UpstreamFailure('rejected', {
    detail: `not expressible in the dialect gemini: ${param}`,
    publicMessage: `Invalid value for '${param}': ${problem}`,
    param,
  });
}

/** The failure of a response that Gemini does not document. */
export function malformed(what: string): UpstreamFailure {
  return new UpstreamFailure('failed', { detail: `the provider sent ${what}` });
}
