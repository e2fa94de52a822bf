import { UpstreamFailure } from '../../failure/upstream-failure';

/** A request that Converse cannot express. Other targets are not tried: their validation differs. */
export function refused(param: string, publicMessage: string): UpstreamFailure {
  return new UpstreamFailure('rejected', {
    detail: `the converse dialect cannot express ${param}: ${publicMessage}`,
    publicMessage,
    param,
  });
}
