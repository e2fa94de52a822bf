import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ServedMethod } from '../served-methods';
import type { ServerCall } from '../server-call';
import { asBuffer } from './grpc-wire';

/**
 * Runs a streaming handler and sends its messages, waiting while the caller
 * does not keep up. Ends the stream when the handler does; rejects with what
 * the handler threw. When the call ends early the handler runs its `finally`.
 */
export async function sendMessages(
  served: ServedMethod,
  call: ServerWritableStream<Buffer, Buffer>,
  context: ServerCall,
): Promise<void> {
  const messages = served.invoke(call.request, context) as AsyncIterable<unknown>;
  const iterator = messages[Symbol.asyncIterator]();
  // A handler that waits for something of its own is at least not waited for.
  call.once('cancelled', () => leave(iterator));
  while (!call.cancelled) {
    const result = await iterator.next();
    if (result.done) {
      call.end();
      return;
    }
    let bytes: Buffer;
    try {
      bytes = asBuffer(served.encode(result.value));
    } catch (error) {
      leave(iterator);
      throw error;
    }
    if (!call.cancelled && !call.write(bytes)) await drained(call);
  }
}

function leave(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().catch(() => undefined);
}

/** Resolves when there is room for another message, or the call is over. */
function drained(call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
  if (call.cancelled || call.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const go = (): void => {
      call.off('drain', go);
      call.off('cancelled', go);
      call.off('close', go);
      resolve();
    };
    call.on('drain', go);
    call.on('cancelled', go);
    call.on('close', go);
  });
}
