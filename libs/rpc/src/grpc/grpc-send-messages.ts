import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ServedMethod } from '../served-methods';
import type { ServerCall } from '../server-call';
import { asBuffer } from './grpc-wire';

/**
 * Runs a streaming handler and sends its messages, waiting while the caller
 * does not keep up. Ends the stream when the handler does; rejects with what
 * the handler threw. When the call is aborted the handler runs its `finally`,
 * and nothing more is sent.
 */
export async function sendMessages(
  served: ServedMethod,
  call: ServerWritableStream<Buffer, Buffer>,
  context: ServerCall,
): Promise<void> {
  const messages = served.invoke(served.decode(call.request), context) as AsyncIterable<unknown>;
  const iterator = messages[Symbol.asyncIterator]();
  context.signal.addEventListener('abort', () => leave(iterator));
  while (!context.aborted) {
    const result = await iterator.next();
    // A stream that was cut must not look as if it had come to its end.
    if (context.aborted) return;
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
    if (!call.write(bytes)) await drained(call, context);
  }
}

function leave(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().catch(() => undefined);
}

/** Resolves when there is room for another message, or the call is over. */
function drained(call: ServerWritableStream<Buffer, Buffer>, { signal }: ServerCall): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      call.off('drain', go);
      call.off('close', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    call.on('drain', go);
    call.on('close', go);
    signal.addEventListener('abort', go);
  });
}
