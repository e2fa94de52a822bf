import type { Client } from '@grpc/grpc-js';
import { failureBeforeStart } from '../../rpc-error';
import type { StartedStream, StreamReader, TransportCall } from '../../transport';
import { CallStream } from './call-stream';

/** The batched calls of one gRPC client. */
export class BatchedCalls {
  private current: CallStream | undefined;

  constructor(
    private readonly client: Client,
    private readonly maxMessageBytes: number,
  ) {}

  unary(call: TransportCall<Uint8Array>): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let response: Uint8Array | undefined;
      this.start(call, {
        message: (bytes) => (response = bytes),
        end: (error) => (error ? reject(error) : resolve(response ?? Buffer.alloc(0))),
      });
    });
  }

  /** Calls in flight keep their stream until their connection closes. */
  close(): void {
    this.current?.close();
  }

  start(call: TransportCall<Uint8Array>, reader: StreamReader<Uint8Array>): StartedStream {
    const ended = failureBeforeStart(call, call.timeoutMs);
    if (ended !== undefined) throw ended;
    if (!this.current?.isOpen) this.current = new CallStream(this.client, call, this.maxMessageBytes);
    return this.current.start(call, reader);
  }
}
