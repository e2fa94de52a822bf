import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Refusal, refuse } from '@gateway/errors';
import { bodyTooLarge, bodyTooSlow, bodyUndecodable } from '@gateway/public-api';
import { RequestCancelled } from '../request-cancelled';
import { BodyPieces } from './body-pieces';

export interface BodyReaderOptions {
  /** Of one body, after decompression. */
  readonly maxBytes: number;
  /** Of the bodies of all requests that are being answered. */
  readonly maxInflightBytes: number;
  /** From the first look at the request until its last byte. */
  readonly timeoutMs: number;
  /** A body that comes in several chunks is collected in pieces of this size. */
  readonly pieceBytes: number;
}

/** What came of reading a body. */
interface ReadBody {
  /** In order; a refusal when the body is not worth looking at. */
  readonly pieces: readonly Uint8Array[] | Refusal;
  /** That were read, after decompression. */
  readonly bytes: number;
}

/** Reads a whole request body into memory, never more than allowed. */
export type BodyReader = (request: IncomingMessage, response: ServerResponse) => Promise<ReadBody>;

/**
 * Bodies may be compressed with gzip, deflate or br; the limit counts what
 * comes out, while it comes out, so a small bomb is stopped as soon as a large
 * body. A body that keeps the server waiting is refused as `request_timeout`.
 *
 * @returns a reader that rejects with RequestCancelled when the caller cancels.
 */
export function createBodyReader(limits: BodyReaderOptions): BodyReader {
  let inflightBytes = 0;

  /**
   * Counts what is read, until the answer ends: a body, or what was made of it, stays in memory for
   * so long. Apart from the reading, of which the wait for that end would else keep everything.
   */
  function countUntilClosed(response: ServerResponse): { bytes: number } {
    const taken = { bytes: 0 };
    response.on('close', () => (inflightBytes -= taken.bytes));
    return taken;
  }

  return (request, response) => {
    // Its events have passed; waiting for them would take until the timeout.
    if (request.destroyed) return Promise.reject(new RequestCancelled());
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > limits.maxBytes) return Promise.resolve(unread(bodyTooLarge(limits.maxBytes)));
    const coding = decoderFor(request.headers['content-encoding']);
    if (coding === 'unknown') return Promise.resolve(unread(bodyUndecodable()));
    const decoder: Transform | undefined = coding;
    if (expectsContinue(request)) response.writeContinue();

    return new Promise((resolve, reject) => {
      const collected = new BodyPieces(limits.pieceBytes, decoder ? 0 : declared);
      const taken = countUntilClosed(response);
      const source = decoder ? request.pipe(decoder) : request;
      const timer = setTimeout(() => refuseIt(bodyTooSlow()), limits.timeoutMs);

      function settle(answer: () => void): void {
        clearTimeout(timer);
        source.off('data', onData).off('end', onEnd).off('error', onError);
        request.off('error', onCancelled).off('close', onClose);
        // Whoever cancels later, while the rest is thrown away, is nobody's news.
        request.on('error', ignore);
        if (decoder) {
          request.unpipe(decoder);
          decoder.on('error', ignore).destroy();
        }
        answer();
      }
      function refuseIt(refusal: Refusal): void {
        settle(() => resolve({ pieces: refusal, bytes: taken.bytes }));
      }
      function onData(chunk: Buffer): void {
        taken.bytes += chunk.length;
        inflightBytes += chunk.length;
        if (taken.bytes > limits.maxBytes) {
          request.pause();
          return refuseIt(bodyTooLarge(limits.maxBytes));
        }
        if (inflightBytes > limits.maxInflightBytes) {
          request.pause();
          return refuseIt(refuse('no_capacity', { internalMessage: 'too many bodies at once' }));
        }
        collected.add(chunk);
      }
      function onEnd(): void {
        settle(() => resolve({ pieces: collected.end(), bytes: taken.bytes }));
      }
      function onError(): void {
        if (decoder) refuseIt(bodyUndecodable());
        else onCancelled();
      }
      function onCancelled(): void {
        settle(() => reject(new RequestCancelled()));
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

/** Whether the caller waits for "100 Continue" before it sends its body. */
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
  return { pieces: refusal, bytes: 0 };
}

function ignore(): void {}
