import { reportFailure, type RpcLog, type ServedMethod } from './served-methods';
import type { ServerCall } from './server-call';

export interface UnaryServing {
  readonly log: RpcLog | undefined;
  /** May throw, which fails the call. */
  readonly answer: (response: Uint8Array) => void;
  /** With what the handler threw. Called for an aborted call as well, of which nothing may be sent. */
  readonly fail: (thrown: unknown) => void;
}

/** Runs a unary handler on the bytes of its request. An aborted call is not answered. */
export function serveUnary(
  served: ServedMethod,
  request: Uint8Array,
  context: ServerCall,
  { log, answer, fail }: UnaryServing,
): void {
  const failed = (thrown: unknown): void => {
    if (!context.aborted) reportFailure(log, served, thrown);
    fail(thrown);
  };
  const succeeded = (response: unknown): void => {
    if (context.aborted) return;
    try {
      answer(served.encode(response));
    } catch (error) {
      failed(error);
    }
  };
  try {
    (served.invoke(served.decode(request), context) as Promise<unknown>).then(succeeded, failed);
  } catch (thrown) {
    failed(thrown);
  }
}

/**
 * Runs a streaming handler and sends its messages, waiting while the caller
 * does not keep up. Resolves when the handler has come to its end, or the call
 * is aborted: then the handler runs its `finally`, and nothing more is sent.
 * Rejects with what the handler threw.
 *
 * @param send resolves when there is room for another message or the call is
 *   over; undefined when there is room now. May throw, which ends the handler.
 */
export async function serveStream(
  served: ServedMethod,
  request: Uint8Array,
  context: ServerCall,
  send: (message: Uint8Array) => Promise<void> | undefined,
): Promise<void> {
  const messages = served.invoke(served.decode(request), context) as AsyncIterable<unknown>;
  const iterator = messages[Symbol.asyncIterator]();
  context.signal.addEventListener('abort', () => leave(iterator));
  while (!context.aborted) {
    const result = await iterator.next();
    // A stream that was cut must not look as if it had come to its end.
    if (context.aborted || result.done) return;
    let sent: Promise<void> | undefined;
    try {
      sent = send(served.encode(result.value));
    } catch (error) {
      leave(iterator);
      throw error;
    }
    if (sent !== undefined) await sent;
  }
}

function leave(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().catch(() => undefined);
}
