import { GatewayError } from '@gateway/errors';
import type { CallMetadata } from './definition';

const NO_METADATA: CallMetadata = Object.freeze({});

/** What every transport can carry: lower-case names without the reserved ones, printable ASCII values. */
const NAME = /^(?!grpc-)[a-z][a-z0-9_.-]*(?<!-bin)$/;
const VALUE = /^[ -~]*$/;

/** The metadata if every transport can carry it; otherwise throws, so that no transport is laxer than another. */
export function checkedMetadata(metadata: CallMetadata | undefined): CallMetadata {
  if (metadata === undefined) return NO_METADATA;
  for (const name of Object.keys(metadata)) {
    if (!NAME.test(name) || !VALUE.test(metadata[name] ?? '')) {
      throw new GatewayError('internal_error', {
        internalMessage: `the metadata ${JSON.stringify(name)} cannot travel beside a call`,
      });
    }
  }
  return metadata;
}
