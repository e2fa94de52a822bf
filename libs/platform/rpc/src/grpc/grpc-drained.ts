import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ServerCall } from '../server-call';

/** Resolves when there is room for another message, or the call is over. */
export function drained(call: ServerWritableStream<Buffer, Buffer>, { signal }: ServerCall): Promise<void> {
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
