import type { Call, Reply } from '@gateway/contracts/batched-calls';
import { GatewayError } from '@gateway/errors';
import { cancelledCall, overdueCall } from '../../rpc-error';
import type { StartedStream, StreamReader, TransportCall } from '../../transport';
import { fromCallFailure } from '../grpc-wire';
import { CallMessages } from './call-messages';
import { MAX_PART_BYTES, MESSAGE_OVERHEAD_BYTES } from './protocol';

/** The stream of a call. */
export interface OpenCallPorts {
  readonly maxMessageBytes: number;
  send(part: Call): void;
  ended(id: number): void;
  /** The server need not finish the call. */
  cancelled(id: number): void;
  taken(id: number, bytes: number): void;
}

/** The client's side of a call. */
export class OpenCall extends CallMessages implements StartedStream {
  private readonly openedAtMs = performance.now();
  private hasSentPart = false;
  private deadline: NodeJS.Timeout | undefined;

  constructor(
    /** With the whole request. */
    private readonly message: Call,
    private readonly call: TransportCall,
    private readonly reader: StreamReader<Uint8Array>,
    private readonly ports: OpenCallPorts,
  ) {
    super();
  }

  get path(): string {
    return this.message.path;
  }

  get requestBytes(): number {
    return this.message.request.length;
  }

  /** Whether its request is large, and none of its parts is sent. */
  get isWaiting(): boolean {
    return this.requestBytes > MAX_PART_BYTES && !this.hasSentPart;
  }

  /** Ends the call when its signal aborts or its time is over. */
  watch(): void {
    const { timeoutMs } = this.call;
    this.call.signal?.addEventListener('abort', this);
    if (timeoutMs === undefined) return;
    this.deadline = setTimeout(() => this.abandon(overdueCall(this.call)), timeoutMs);
  }

  /** The signal aborted. */
  handleEvent(): void {
    this.abandon(cancelledCall(this.call));
  }

  /** Sends a large request. Resolves when all its parts are sent, or the call has ended. */
  async sendRequest(): Promise<void> {
    await this.sendMessage(this.message.request);
  }

  receive({ message, more, end, failure }: Reply): void {
    if (message) this.receivePart(message, more);
    if (!end || !this.close()) return;
    this.reader.end(failure && fromCallFailure(this.path, failure));
  }

  fail(error: Error): void {
    if (this.close()) this.reader.end(error);
  }

  read(taken: number): void {
    this.take(taken);
  }

  cancel(): void {
    if (this.close()) this.ports.cancelled(this.message.id);
  }

  protected sendPart(request: Buffer, more: boolean): void {
    const { id } = this.message;
    if (this.hasSentPart) this.ports.send({ id, path: '', request, timeoutMs: 0, metadata: {}, more });
    else this.ports.send({ ...this.message, request, timeoutMs: this.leftMs(), more });
    this.hasSentPart = true;
  }

  private leftMs(): number {
    const { timeoutMs } = this.message;
    return timeoutMs && Math.max(1, Math.ceil(timeoutMs - (performance.now() - this.openedAtMs)));
  }

  protected reportTaken(bytes: number): void {
    this.ports.taken(this.message.id, bytes);
  }

  private receivePart(part: Buffer, more: boolean): void {
    const { maxMessageBytes } = this.ports;
    if (this.incompleteBytes + part.length > maxMessageBytes) {
      const internalMessage = `${this.path}: the response exceeds ${maxMessageBytes} bytes`;
      return this.abandon(new GatewayError('internal_error', { internalMessage }));
    }
    const message = this.join(part, more);
    if (message !== undefined) this.reader.message(message, part.length + MESSAGE_OVERHEAD_BYTES);
  }

  private abandon(error: Error): void {
    if (!this.close()) return;
    this.ports.cancelled(this.message.id);
    this.reader.end(error);
  }

  /** @returns whether the call was still open. */
  private close(): boolean {
    if (this.hasEnded) return false;
    this.endMessages();
    clearTimeout(this.deadline);
    this.call.signal?.removeEventListener('abort', this);
    this.ports.ended(this.message.id);
    return true;
  }
}
