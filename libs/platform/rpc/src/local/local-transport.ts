import { createConnection } from 'node:net';
import { backoffMs } from '@gateway/base';
import { DeadlineWheel } from '../deadline-wheel';
import { MAX_MESSAGE_BYTES } from '../limits';
import { RpcError } from '../rpc-error';
import type { RpcLog } from '../served-methods';
import type { BytesTransport } from '../transport';
import { LocalCall, type CallReceiver, type CallRuntime, type Carrier } from './local-call';
import { LocalConnection } from './local-connection';
import { MAX_CALLS, maxFrameBytes, RECONNECT } from './local-limits';
import { LocalStream } from './local-stream';
import { checkSocketPath } from './socket-path';

export interface LocalTransportOptions {
  /** Where the server listens. */
  readonly path: string;
  /** For a connection that was closed because of what came over it. */
  readonly log?: RpcLog;
  /** MAX_MESSAGE_BYTES when absent; the same as the server's. */
  readonly maxMessageBytes?: number;
}

export interface LocalTransport extends BytesTransport {
  /** Lets go of the connection. Calls under way fail as unavailable, later ones as unreachable. */
  close(): void;
}

/**
 * Calls the services of another process of this machine over a Unix socket.
 * Connects at once, and again whenever the connection was lost. Calls made
 * before the first connection wait for it, within their deadlines; while a lost
 * one is not back, they fail at once as unreachable. Nothing is sent twice.
 */
export function createLocalTransport({
  path,
  log,
  maxMessageBytes = MAX_MESSAGE_BYTES,
}: LocalTransportOptions): LocalTransport {
  checkSocketPath(path);
  const link = new LocalLink(path, log, maxMessageBytes);
  return {
    carries: 'bytes',
    unary: (call) =>
      new Promise((resolve, reject) => new LocalCall(call, new Answer(resolve, reject), link).start()),
    serverStream: (call) => new LocalStream(call, link),
    close: () => link.close(),
  };
}

/** Whoever waits for a unary call. */
class Answer implements CallReceiver {
  readonly streams = false;

  constructor(
    readonly take: (payload: Buffer) => void,
    readonly cut: (reason: unknown) => void,
  ) {}

  end(error: Error | undefined): void {
    if (error !== undefined) this.cut(error);
  }
}

/** The connection to a server, again and again. */
class LocalLink implements CallRuntime {
  readonly deadlines = new DeadlineWheel();
  /** Calls made before the first connection. */
  readonly #waiting = new Set<LocalCall>();
  readonly #waitingRoom: Carrier = {
    leave: (call) => void this.#waiting.delete(call),
    credit: () => undefined,
  };
  #state: 'new' | 'connected' | 'lost' | 'closed' = 'new';
  #connection: LocalConnection;
  #failures = 0;
  #reconnecting: NodeJS.Timeout | undefined;

  constructor(
    private readonly path: string,
    private readonly log: RpcLog | undefined,
    readonly maxMessageBytes: number,
  ) {
    this.#connection = this.#connect();
  }

  dispatch(sent: LocalCall): Carrier {
    const { service, method } = sent.call;
    const calls = this.#waiting.size + this.#connection.callsUnderWay;
    if (calls >= MAX_CALLS) {
      throw new RpcError('unreachable', `${service}/${method}: ${calls} calls are under way`);
    }
    switch (this.#state) {
      case 'connected':
        this.#connection.send(sent);
        return this.#connection;
      case 'new':
        this.#waiting.add(sent);
        return this.#waitingRoom;
      case 'lost':
      case 'closed':
        throw new RpcError('unreachable', `${service}/${method}: the connection is ${this.#state}`);
    }
  }

  close(): void {
    this.#state = 'closed';
    clearTimeout(this.#reconnecting);
    this.#connection.close();
    for (const call of this.#takeWaiting()) {
      call.end(new RpcError('unreachable', 'the transport was closed before there was a connection'));
    }
  }

  #connect(): LocalConnection {
    return new LocalConnection(createConnection(this.path), {
      onReady: () => this.#ready(),
      onLost: () => this.#lost(),
      maxFrameBytes: maxFrameBytes(this.maxMessageBytes),
      log: this.log,
    });
  }

  #ready(): void {
    if (this.#state === 'closed') return;
    this.#state = 'connected';
    this.#failures = 0;
    for (const call of this.#takeWaiting()) {
      try {
        this.#connection.send(call);
        call.carriedBy(this.#connection);
      } catch (error) {
        call.end(error as Error);
      }
    }
  }

  #takeWaiting(): LocalCall[] {
    const calls = [...this.#waiting];
    this.#waiting.clear();
    return calls;
  }

  #lost(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'connected') this.#state = 'lost';
    this.#failures += 1;
    const pauseMs = backoffMs(this.#failures, RECONNECT, Math.random());
    this.#reconnecting = setTimeout(() => {
      this.#connection = this.#connect();
    }, pauseMs);
  }
}
