import { UpstreamFailure } from '../../failure/upstream-failure';

/** @throws UpstreamFailure for a request that the Messages API cannot express. Nothing was sent. */
export function refuse(param: string, publicMessage: string): never {
  throw new UpstreamFailure('rejected', {
    detail: `not expressible in the Messages API: ${param}`,
    publicMessage,
    param,
  });
}
