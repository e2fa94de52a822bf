import { connectivityState, type Client } from '@grpc/grpc-js';
import type { BytesTransport } from '../../transport';

/** How one replica is doing, as far as calls to it tell. */
export interface ReplicaLimits {
  /** A replica with calls under way that was not heard of for this long is asked for its health. */
  readonly silenceMs: number;
  /** One that does not answer that within this long gets no more calls, until it does. */
  readonly probeTimeoutMs: number;
}

export interface ReplicaDeps {
  readonly address: string;
  readonly client: Client;
  readonly transport: BytesTransport;
  /** Resolves when the replica answers, ready or not; rejects when it does not in time. */
  readonly probe: (timeoutMs: number) => Promise<void>;
  readonly limits: ReplicaLimits;
  /** Told when it can be called again, or cannot any more. */
  readonly onChange: () => void;
}

/** A call to one replica, from its start to its end. */
export interface OpenCall {
  /** The replica said something: an answer, a first message, or a failure of its own. */
  heard(): void;
  /** The call is over; safe to call twice. */
  done(): void;
}

/**
 * One server behind a name: whether it is connected, whether it still answers,
 * and how many calls it has. A process that was stopped, or a network that
 * swallows everything, keeps its connections; only silence tells.
 */
export class Replica {
  readonly address: string;
  readonly transport: BytesTransport;
  private openCalls = 0;
  /** Of the open calls, those that have heard nothing yet. */
  private waiting = 0;
  private heardAtMs = performance.now();
  private waitingSinceMs = 0;
  private answering = true;
  private probing = false;
  private retired = false;
  private closed = false;
  private readonly leaving = new Set<() => void>();

  constructor(private readonly deps: ReplicaDeps) {
    this.address = deps.address;
    this.transport = deps.transport;
    this.watchConnection();
  }

  /** Calls that have not ended, streams included. */
  get calls(): number {
    return this.openCalls;
  }

  /** When it last said anything, by `performance.now()`. */
  get lastHeardMs(): number {
    return this.heardAtMs;
  }

  /** Whether a call given to it now goes out at once, to a server that answers. */
  get isCallable(): boolean {
    return this.answering && this.isConnected;
  }

  get isConnected(): boolean {
    return !this.closed && this.connection(false) === connectivityState.READY;
  }

  open(): OpenCall {
    if (this.waiting === 0) this.waitingSinceMs = performance.now();
    this.openCalls += 1;
    this.waiting += 1;
    let waits = true;
    let isOver = false;
    const stopWaiting = (): void => {
      if (waits) this.waiting -= 1;
      waits = false;
    };
    return {
      heard: () => {
        stopWaiting();
        this.heardAtMs = performance.now();
      },
      done: () => {
        stopWaiting();
        if (isOver) return;
        isOver = true;
        this.openCalls -= 1;
        if (this.retired && this.openCalls === 0) this.close();
      },
    };
  }

  /** Calls `leave` when the replica falls silent, until the returned function is called. */
  whenSilent(leave: () => void): () => void {
    this.leaving.add(leave);
    return () => this.leaving.delete(leave);
  }

  /** Closes it once its calls have ended. */
  retire(): void {
    this.retired = true;
    if (this.openCalls === 0) this.close();
  }

  /** Looks after its silence; called a few times a second. */
  tick(): void {
    if (this.closed || this.probing || !this.isConnected) return;
    const silentMs = performance.now() - Math.max(this.heardAtMs, this.waitingSinceMs);
    const suspect = this.waiting > 0 && silentMs >= this.deps.limits.silenceMs;
    if (suspect || !this.answering) void this.probeServer();
  }

  close(): void {
    this.closed = true;
    this.deps.client.close();
  }

  private async probeServer(): Promise<void> {
    this.probing = true;
    const answered = await this.deps.probe(this.deps.limits.probeTimeoutMs).then(
      () => true,
      () => false,
    );
    this.probing = false;
    if (this.closed) return;
    if (answered) this.heardAtMs = performance.now();
    if (answered === this.answering) return;
    this.answering = answered;
    if (!answered) for (const leave of [...this.leaving]) leave();
    this.deps.onChange();
  }

  /** Asks for a connection whenever there is none, so that a call never has to wait for one to be made. */
  private watchConnection(): void {
    if (this.closed) return;
    const state = this.connection(true);
    this.deps.client.getChannel().watchConnectivityState(state, Infinity, (error) => {
      if (error !== undefined || this.closed) return;
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
