import { ErrorDetail } from '@gateway/contracts/common';
import { GatewayError, isErrorCode, toGatewayError, type ErrorMetadata } from '@gateway/errors';

/** Size limit of an encoded error in bytes. Beyond it, metadata is dropped and text is truncated. */
export const MAX_ERROR_DETAIL_BYTES = 16 * 1024;

/**
 * Encodes a thrown value for an RPC response: the public fields of an error of
 * the error table, whether a provider was called, and whether the generation has
 * a record. Anything else becomes a bare `internal_error`.
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
    generationRecorded: error.generationRecorded,
  };
  const bytes = ErrorDetail.encode(detail).finish();
  if (bytes.length <= MAX_ERROR_DETAIL_BYTES) return bytes;
  // Trailers have a size limit, and the code matters most. A UTF-16 code unit has
  // at most three bytes in UTF-8.
  const message = detail.message.slice(0, MAX_ERROR_DETAIL_BYTES / 8);
  const param = detail.param?.slice(0, MAX_ERROR_DETAIL_BYTES / 16);
  return ErrorDetail.encode({ ...detail, message, param, metadataJson: '' }).finish();
}

/** Decodes the bytes of `encodeError`; a bare `internal_error` if they are invalid. */
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
        generationRecorded: detail.generationRecorded,
      });
    }
    return invalidDetail(`an error has the unknown code ${JSON.stringify(detail.code)}`);
  } catch (cause) {
    return invalidDetail('an error detail cannot be decoded', cause);
  }
}

function invalidDetail(internalMessage: string, cause?: unknown): GatewayError {
  return new GatewayError('internal_error', { internalMessage, cause });
}

function metadataJson(metadata: ErrorMetadata): string {
  for (const _ in metadata) {
    try {
      return JSON.stringify(metadata);
    } catch {
      // The metadata has a bigint or a cycle. Send the error without it.
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
