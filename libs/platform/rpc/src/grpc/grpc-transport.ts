import { Client, type ServiceError } from '@grpc/grpc-js';
import { isBatched } from '@gateway/contracts/callers';
import { checkedMetadata } from '../call-metadata';
import { cancelledCall, failureBeforeStart } from '../rpc-error';
import { MAX_MESSAGE_BYTES, type BytesTransport, type TransportCall } from '../transport';
import { BatchedCalls } from './batched/batched-calls';
import { MAX_BATCHED_REQUEST_BYTES } from './batched/protocol';
import { channelCredentials, clientOptions, type RpcTls } from './grpc-options';
import { startGrpcStream } from './grpc-stream';
import { asBuffer, fromGrpcFailure, identity, pathOf, startCall, toGrpcMetadata } from './grpc-wire';

export interface GrpcTransportOptions {
  /** `host:port`, or any target that gRPC resolves, such as `dns:///billing-ledger:50051`. */
  readonly address: string;
  /** Absent: plain text. */
  readonly tls?: RpcTls;
  /** Defaults to MAX_MESSAGE_BYTES. */
  readonly maxMessageBytes?: number;
  /** Whether calls of a method, such as "gateway.auth.v1.Auth/VerifyKey", travel in batches; its contract decides by default. */
  readonly batches?: (rpc: string) => boolean;
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
  batches,
}: GrpcTransportOptions): GrpcTransport {
  const client = new Client(address, channelCredentials(tls), clientOptions(maxMessageBytes, tls));
  return transportOver(client, { maxMessageBytes, ...(batches && { batches }) });
}

interface TransportOverOptions {
  readonly maxMessageBytes: number;
  readonly batches?: (rpc: string) => boolean;
}

/** The calls of one gRPC client. */
export function transportOver(
  client: Client,
  { maxMessageBytes, batches = isBatched }: TransportOverOptions,
): GrpcTransport {
  const batched = new BatchedCalls(client, maxMessageBytes);
  const isInBatch = ({ service, method, request }: TransportCall<Uint8Array>) =>
    request.length <= MAX_BATCHED_REQUEST_BYTES && batches(`${service}/${method}`);
  return {
    carries: 'bytes',
    unary: (call) => (isInBatch(call) ? batched.unary(call) : unary(client, call)),
    serverStream: (call, reader) =>
      isInBatch(call) ? batched.start(call, reader) : startGrpcStream(client, call, reader),
    close: () => {
      batched.close();
      client.close();
    },
  };
}

function unary(client: Client, call: TransportCall<Uint8Array>): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const ended = failureBeforeStart(call, call.timeoutMs);
    if (ended !== undefined) throw ended;
    const { signal } = call;
    const path = pathOf(call.service, call.method);
    const metadata = toGrpcMetadata(checkedMetadata(call.metadata));
    const deadline = call.timeoutMs === undefined ? undefined : Date.now() + call.timeoutMs;

    const onResponse = (failure: ServiceError | null, response?: Buffer): void => {
      signal?.removeEventListener('abort', cancel);
      if (failure !== null) reject(fromGrpcFailure(path, failure));
      else resolve(response as Buffer);
    };
    const request = startCall(call, () =>
      client.makeUnaryRequest(
        path,
        identity,
        identity,
        asBuffer(call.request),
        metadata,
        deadline === undefined ? {} : { deadline },
        onResponse,
      ),
    );
    function cancel(): void {
      reject(cancelledCall(call));
      request.cancel();
    }
    signal?.addEventListener('abort', cancel, { once: true });
  });
}
