import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { FairShares } from '@gateway/base';
import { type Refusal, refuse } from '@gateway/errors';
import { bodyTooLarge, bodyTooSlow, bodyUndecodable } from '@gateway/public-api';
import { RequestCancelled } from '../request-cancelled';
import { BodyChunks } from './body-chunks';

export interface BodyReaderOptions {
  /** The size of one body, after decompression. */
  readonly maxBytes: number;
  /** Total of the bodies of all requests in flight, which organizations share fairly. */
  readonly maxInflightBytes: number;
  /** From the start of the read to the last byte. */
  readonly timeoutMs: number;
  /** See BodyChunks. */
  readonly chunkBytes: number;
}

/** The result of reading a body. */
interface ReadBody {
  /** In order; or the refusal. */
  readonly chunks: readonly Uint8Array[] | Refusal;
  /** Bytes read, after decompression. */
  readonly bytes: number;
}

/** Reads a whole request body of an organization into memory, up to the limits. */
export type BodyReader = (
  request: IncomingMessage,
  response: ServerResponse,
  organizationId: string,
) => Promise<ReadBody>;

/**
 * Bodies may be compressed with gzip, deflate or br. The size limit counts the
 * decompressed bytes as they arrive, which also stops decompression bombs. A body
 * that does not arrive in time is refused with `request_timeout`.
 *
 * @returns a reader that rejects with RequestCancelled when the client disconnects.
 */
export function createBodyReader(limits: BodyReaderOptions): BodyReader {
  const inflight = new FairShares();

  /**
   * Counts bytes until the response closes, since the body or its parsed form stays in memory until
   * then. Outside of the reader, so that this listener does not retain the reader's closure.
   */
  function countUntilClosed(response: ServerResponse, organizationId: string): { bytes: number } {
    const counted = { bytes: 0 };
    response.on('close', () => inflight.release(organizationId, counted.bytes));
    return counted;
  }

  return (request, response, organizationId) => {
    // Its events were emitted before; waiting for them would last until the timeout.
    if (request.destroyed) return Promise.reject(new RequestCancelled());
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > limits.maxBytes) return Promise.resolve(unread(bodyTooLarge(limits.maxBytes)));
    const coding = decoderFor(request.headers['content-encoding']);
    if (coding === 'unknown') return Promise.resolve(unread(bodyUndecodable()));
    const decoder: Transform | undefined = coding;
    if (expectsContinue(request)) response.writeContinue();

    return new Promise((resolve, reject) => {
      const collected = new BodyChunks(limits.chunkBytes, decoder ? 0 : declared);
      const counted = countUntilClosed(response, organizationId);
      let readBytes = 0;
      const source = decoder ? request.pipe(decoder) : request;
      const timer = setTimeout(() => refuseBody(bodyTooSlow()), limits.timeoutMs);

      function finish(complete: () => void): void {
        clearTimeout(timer);
        source.off('data', onData).off('end', onEnd).off('error', onError);
        request.off('error', onCancelled).off('close', onClose);
        // Errors while the rest of the body is discarded are irrelevant.
        request.on('error', ignore);
        if (decoder) {
          request.unpipe(decoder);
          decoder.on('error', ignore).destroy();
        }
        complete();
      }
      function refuseBody(refusal: Refusal): void {
        finish(() => resolve({ chunks: refusal, bytes: readBytes }));
      }
      function onData(chunk: Buffer): void {
        readBytes += chunk.length;
        if (readBytes > limits.maxBytes) {
          request.pause();
          return refuseBody(bodyTooLarge(limits.maxBytes));
        }
        if (!inflight.take(organizationId, chunk.length, limits.maxInflightBytes, counted.bytes)) {
          request.pause();
          return refuseBody(refuse('no_capacity', { internalMessage: 'too many body bytes in flight' }));
        }
        counted.bytes += chunk.length;
        collected.add(chunk);
      }
      function onEnd(): void {
        finish(() => resolve({ chunks: collected.end(), bytes: readBytes }));
      }
      function onError(): void {
        if (decoder) refuseBody(bodyUndecodable());
        else onCancelled();
      }
      function onCancelled(): void {
        finish(() => reject(new RequestCancelled()));
      }
      function onClose(): void {
        if (!request.complete) onCancelled();
      }

      source.on('data', onData).on('end', onEnd).on('error', onError);
      if (decoder) request.on('error', onCancelled);
      request.on('close', onClose);
    });
  };
}

/** Whether the client waits for "100 Continue" before it sends its body. */
export function expectsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

function decoderFor(encoding: string | undefined): Transform | 'unknown' | undefined {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return 'unknown';
  }
}

function unread(refusal: Refusal): ReadBody {
  return { chunks: refusal, bytes: 0 };
}

function ignore(): void {}
