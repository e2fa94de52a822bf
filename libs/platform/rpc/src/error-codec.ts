import { ErrorDetail } from '@gateway/contracts/common';
import { GatewayError, isErrorCode, toGatewayError, type ErrorMetadata } from '@gateway/errors';

/** The largest error detail that crosses, in bytes; beyond it metadata and then text is left out. */
export const MAX_ERROR_DETAIL_BYTES = 16 * 1024;

/**
 * A thrown value as it crosses a boundary. Only the public parts of an error of
 * the table do, and whether a provider was called; anything else is a bare `internal_error`.
 */
export function encodeError(thrown: unknown): Uint8Array {
  const error = toGatewayError(thrown);
  const detail: ErrorDetail = {
    code: error.code,
    message: error.message,
    param: error.param,
    metadataJson: metadataJson(error.metadata),
    retryAfterMs: error.retryAfterMs === undefined ? undefined : wholeMs(error.retryAfterMs),
    providerCalled: error.providerCalled,
  };
  const bytes = ErrorDetail.encode(detail).finish();
  if (bytes.length <= MAX_ERROR_DETAIL_BYTES) return bytes;
  // Headers are bounded; the code matters more than what surrounds it. A
  // character is at most three bytes of UTF-8.
  const message = detail.message.slice(0, MAX_ERROR_DETAIL_BYTES / 8);
  const param = detail.param?.slice(0, MAX_ERROR_DETAIL_BYTES / 16);
  return ErrorDetail.encode({ ...detail, message, param, metadataJson: '' }).finish();
}

/** The error that encodeError wrote; a bare `internal_error` when the bytes are not of its making. */
export function decodeError(bytes: Uint8Array): GatewayError {
  try {
    const detail = ErrorDetail.decode(bytes);
    if (isErrorCode(detail.code)) {
      return new GatewayError(detail.code, {
        message: detail.message,
        param: detail.param,
        metadata: parseMetadata(detail.metadataJson),
        retryAfterMs: detail.retryAfterMs,
        providerCalled: detail.providerCalled,
      });
    }
    return unreadable(`an error has the unknown code ${JSON.stringify(detail.code)}`);
  } catch (cause) {
    return unreadable('an error detail cannot be read', cause);
  }
}

function unreadable(internalMessage: string, cause?: unknown): GatewayError {
  return new GatewayError('internal_error', { internalMessage, cause });
}

function metadataJson(metadata: ErrorMetadata): string {
  for (const _ in metadata) {
    try {
      return JSON.stringify(metadata);
    } catch {
      // A bigint or a cycle is a slip of who raised it; the error itself still counts.
      return '';
    }
  }
  return '';
}

function parseMetadata(json: string): ErrorMetadata {
  return json === '' ? {} : (JSON.parse(json) as ErrorMetadata);
}

function wholeMs(ms: number): number {
  return Math.min(Math.max(0, Math.ceil(ms)), 0xffff_ffff);
}
