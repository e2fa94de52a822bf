import { GatewayError } from '@gateway/errors';
import type { CallMetadata } from './definition';

const NO_METADATA: CallMetadata = Object.freeze({});

/** Supported by every transport: lower-case names except reserved ones, and printable ASCII values. */
const NAME = /^(?!grpc-)[a-z][a-z0-9_.-]*(?<!-bin)$/;
const VALUE = /^[ -~]*$/;

/** Throws on metadata that some transport cannot send, so that all transports accept the same. */
export function checkedMetadata(metadata: CallMetadata | undefined): CallMetadata {
  if (metadata === undefined) return NO_METADATA;
  for (const name of Object.keys(metadata)) {
    if (!NAME.test(name) || !VALUE.test(metadata[name] ?? '')) {
      throw new GatewayError('internal_error', {
        internalMessage: `the metadata ${JSON.stringify(name)} cannot be sent with a call`,
      });
    }
  }
  return metadata;
}
