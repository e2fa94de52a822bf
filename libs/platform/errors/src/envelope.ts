import type { ErrorCode, ErrorType } from './error-table';
import type { ErrorMetadata, GatewayError } from './gateway-error';

/** The body of every error response. `param` is omitted when there is none. */
export interface ErrorEnvelope {
  readonly error: {
    readonly message: string;
    readonly type: ErrorType;
    readonly param?: string;
    readonly code: ErrorCode;
    readonly metadata: ErrorMetadata;
  };
}

export function errorEnvelope(error: GatewayError): ErrorEnvelope {
  return {
    error: {
      message: error.message,
      type: error.row.type,
      ...(error.param === undefined ? {} : { param: error.param }),
      code: error.code,
      metadata: error.metadata,
    },
  };
}
