import { Client } from '@grpc/grpc-js';
import { failureBeforeStart, RpcError } from '../rpc-error';
import { MAX_MESSAGE_BYTES, type BytesTransport, type StartStream } from '../transport';
import { unaryOver } from '../unary-over';
import { CallStream } from './batched/call-stream';
import { channelCredentials, clientOptions, type RpcTls } from './grpc-options';
import { pathOf } from './grpc-wire';

export interface GrpcTransportOptions {
  /** `host:port`, or any target that gRPC resolves, such as `dns:///billing-ledger:50051`. */
  readonly address: string;
  /** Absent: plain text. */
  readonly tls?: RpcTls;
  /** Defaults to MAX_MESSAGE_BYTES. */
  readonly maxMessageBytes?: number;
}

export interface GrpcTransport extends BytesTransport {
  /** Closes the connections. Calls in flight and later calls fail as unavailable. */
  close(): void;
}

/**
 * Calls services over gRPC. Connects on the first call and reconnects
 * automatically. A call without a connection fails immediately as unavailable.
 */
export function createGrpcTransport({
  address,
  tls,
  maxMessageBytes = MAX_MESSAGE_BYTES,
}: GrpcTransportOptions): GrpcTransport {
  const client = new Client(address, channelCredentials(tls), clientOptions(maxMessageBytes, tls));
  return transportOver(client, maxMessageBytes);
}

/**
 * The calls of one gRPC client: all on one stream, which is replaced from time to time.
 *
 * @param onGoAway - called when the server stops: it finishes its calls, and accepts no more
 */
export function transportOver(
  client: Client,
  maxMessageBytes: number,
  onGoAway: () => void = () => undefined,
): GrpcTransport {
  let current: CallStream | undefined;

  const start: StartStream<Uint8Array> = (call, reader) => {
    const ended = failureBeforeStart(call, call.timeoutMs);
    if (ended !== undefined) throw ended;
    try {
      if (!current?.isOpen) current = new CallStream(client, maxMessageBytes, onGoAway);
    } catch (cause) {
      // The client is closed.
      throw new RpcError('unreachable', `${pathOf(call.service, call.method)} could not be sent`, cause);
    }
    return current.start(call, reader);
  };

  return {
    carries: 'bytes',
    unary: unaryOver(start),
    serverStream: start,
    close: () => {
      current?.close();
      client.close();
    },
  };
}
