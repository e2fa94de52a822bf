import type { Client, ServiceError } from '@grpc/grpc-js';
import { checkedMetadata } from '../call-metadata';
import { cancelledCall, failureBeforeStart } from '../rpc-error';
import type { StartedStream, StreamReader, TransportCall } from '../transport';
import { asBuffer, fromGrpcFailure, identity, pathOf, startCall, toGrpcMetadata } from './grpc-wire';

/** Then unread messages fill the flow control window of the connection, and the server waits. */
const MAX_UNREAD = 16;

/** Starts a call with a stream of responses as a gRPC call of its own. */
export function startGrpcStream(
  client: Client,
  call: TransportCall<Uint8Array>,
  reader: StreamReader<Uint8Array>,
): StartedStream {
  const { signal, timeoutMs } = call;
  const path = pathOf(call.service, call.method);
  const ended = failureBeforeStart(call, timeoutMs);
  if (ended !== undefined) throw ended;
  const metadata = toGrpcMetadata(checkedMetadata(call.metadata));
  const deadline = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
  const stream = startCall(call, () =>
    client.makeServerStreamRequest(path, identity, identity, asBuffer(call.request), metadata, deadline),
  );
  let unread = 0;
  let failure: ServiceError | undefined;
  let hasEnded = false;

  function close(): boolean {
    if (hasEnded) return false;
    hasEnded = true;
    signal?.removeEventListener('abort', abort);
    return true;
  }
  function cancel(): void {
    if (close()) stream.cancel();
  }
  function abort(): void {
    cancel();
    reader.end(cancelledCall(call));
  }

  stream.on('data', (message: Buffer) => {
    if (hasEnded) return;
    unread += 1;
    if (unread >= MAX_UNREAD) stream.pause();
    reader.message(message, 1);
  });
  // gRPC may emit a failure before all messages are read; the end follows them.
  stream.on('error', (error) => (failure = error as ServiceError));
  stream.on('end', () => {
    if (close()) reader.end(failure && fromGrpcFailure(path, failure));
  });
  signal?.addEventListener('abort', abort);
  return {
    read: (taken) => {
      unread -= taken;
      if (unread < MAX_UNREAD && stream.isPaused()) stream.resume();
    },
    cancel,
  };
}
