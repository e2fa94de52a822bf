import { connectivityState, type Client } from '@grpc/grpc-js';
import type { BytesTransport } from '../../transport';
import type { GrpcTransport } from '../grpc-transport';

export interface ReplicaLimits {
  /** A replica with calls in flight that has not responded for this long gets a health check. */
  readonly probeAfterMs: number;
  /** A replica that fails its health check within this time gets no calls until it responds again. */
  readonly probeTimeoutMs: number;
}

export interface ReplicaDeps {
  readonly address: string;
  readonly client: Client;
  readonly transport: GrpcTransport;
  /** Resolves when the replica responds, even if it is not ready; rejects if it does not respond in time. */
  readonly probe: (timeoutMs: number) => Promise<void>;
  readonly limits: ReplicaLimits;
  /** Called when `isCallable` may have changed. */
  readonly onChange: () => void;
}

/** A call to one replica, from its start to its end. */
export interface OpenCall {
  /** The replica sent a response, a message, or a failure of its own. */
  responded(): void;
  /** The call has ended; idempotent. */
  done(): void;
}

/**
 * One server behind a name: whether it is connected and responsive, and its
 * number of calls. The connections of a frozen process, or over a network that
 * drops all packets, stay open, so missing responses are the only sign.
 */
export class Replica {
  readonly address: string;
  readonly transport: BytesTransport;
  private openCalls = 0;
  /** Open calls without any response so far. */
  private awaitingResponse = 0;
  private respondedAtMs = performance.now();
  private awaitingSinceMs = 0;
  private responsive = true;
  private probing = false;
  /** Until the next connection. */
  private stopping = false;
  private retired = false;
  private closed = false;
  private readonly unresponsiveListeners = new Set<() => void>();

  constructor(private readonly deps: ReplicaDeps) {
    this.address = deps.address;
    this.transport = deps.transport;
    this.watchConnection();
  }

  /** Calls that have not ended, streams included. */
  get calls(): number {
    return this.openCalls;
  }

  /** The time of its last response, by `performance.now()`. */
  get lastResponseMs(): number {
    return this.respondedAtMs;
  }

  get isCallable(): boolean {
    return this.responsive && this.isConnected;
  }

  /** Whether it accepts calls. */
  get isConnected(): boolean {
    return !this.closed && !this.stopping && this.connection(false) === connectivityState.READY;
  }

  open(): OpenCall {
    if (this.awaitingResponse === 0) this.awaitingSinceMs = performance.now();
    this.openCalls += 1;
    this.awaitingResponse += 1;
    let isAwaiting = true;
    let hasEnded = false;
    const markResponded = (): void => {
      if (isAwaiting) this.awaitingResponse -= 1;
      isAwaiting = false;
    };
    return {
      responded: () => {
        markResponded();
        this.respondedAtMs = performance.now();
      },
      done: () => {
        markResponded();
        if (hasEnded) return;
        hasEnded = true;
        this.openCalls -= 1;
        if (this.retired && this.openCalls === 0) this.close();
      },
    };
  }

  /** Calls `listener` when the replica becomes unresponsive, until the returned function is called. */
  onUnresponsive(listener: () => void): () => void {
    this.unresponsiveListeners.add(listener);
    return () => this.unresponsiveListeners.delete(listener);
  }

  /** The server finishes its calls, and accepts no more. */
  markStopping(): void {
    this.stopping = true;
    this.deps.onChange();
  }

  /** Closes the replica once its calls have ended. */
  retire(): void {
    this.retired = true;
    if (this.openCalls === 0) this.close();
  }

  /** Probes the replica if responses are missing. Called a few times a second. */
  tick(): void {
    if (this.closed || this.probing || !this.isConnected) return;
    const silentMs = performance.now() - Math.max(this.respondedAtMs, this.awaitingSinceMs);
    const isSuspect = this.awaitingResponse > 0 && silentMs >= this.deps.limits.probeAfterMs;
    if (isSuspect || !this.responsive) void this.probeServer();
  }

  close(): void {
    this.closed = true;
    this.deps.transport.close();
  }

  private async probeServer(): Promise<void> {
    this.probing = true;
    const responded = await this.deps.probe(this.deps.limits.probeTimeoutMs).then(
      () => true,
      () => false,
    );
    this.probing = false;
    if (this.closed) return;
    if (responded) this.respondedAtMs = performance.now();
    if (responded === this.responsive) return;
    this.responsive = responded;
    if (!responded) for (const listener of [...this.unresponsiveListeners]) listener();
    this.deps.onChange();
  }

  /** Reconnects whenever the connection is lost, so that calls find an established connection. */
  private watchConnection(): void {
    if (this.closed) return;
    const state = this.connection(true);
    this.deps.client.getChannel().watchConnectivityState(state, Infinity, (error) => {
      if (error !== undefined || this.closed) return;
      if (state === connectivityState.READY) this.stopping = false;
      this.deps.onChange();
      this.watchConnection();
    });
  }

  private connection(connect: boolean): connectivityState {
    try {
      return this.deps.client.getChannel().getConnectivityState(connect);
    } catch {
      return connectivityState.SHUTDOWN;
    }
  }
}
