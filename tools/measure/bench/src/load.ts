import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { checkAnswer } from './check';
import type { Kind } from './canned';
import { HttpMessageReader, type HttpMessage } from './http-message';

/** Where requests go and what they say. */
export interface Destination {
  readonly port: number;
  readonly path: string;
  readonly apiKey: string;
  /** More headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests and their latencies in milliseconds, as measured inside a window. */
export interface Measured {
  readonly requests: number;
  readonly chunks: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** Until the first byte of a stream's body; empty otherwise. */
  readonly firstBytesMs: readonly number[];
}

/** Sums over everything sent to one destination, warm-up included: what the money must agree with. */
export interface Tally {
  answers: number;
  /** Answers that named a cost. */
  priced: number;
  costNanoUsd: number;
}

export function newTally(): Tally {
  return { answers: 0, priced: 0, costNanoUsd: 0 };
}

/** An answer later than this is a failure of the target. */
const ANSWER_TIMEOUT_MS = 60_000;

function requestText(destination: Destination, body: string): string {
  const headers = Object.entries(destination.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `POST ${destination.path} HTTP/1.1\r\nhost: 127.0.0.1:${destination.port}\r\n` +
    `authorization: Bearer ${destination.apiKey}\r\ncontent-type: application/json\r\n` +
    `${headers.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** One keep-alive connection that sends a request and waits for its answer, over and over. */
class Connection {
  private readonly socket: Socket;
  private answered: ((message: HttpMessage) => void) | undefined;
  private failed: ((error: Error) => void) | undefined;
  firstBodyAtMs = 0;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.setTimeout(ANSWER_TIMEOUT_MS, () => this.socket.destroy(new Error('no answer in time')));
    const reader = new HttpMessageReader(
      (message) => this.answered?.(message),
      () => (this.firstBodyAtMs = performance.now()),
    );
    this.socket.on('data', (text: string) => {
      try {
        reader.push(text);
      } catch (error) {
        this.fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('the connection was closed')));
  }

  exchange(text: string): Promise<HttpMessage> {
    return new Promise((resolve, reject) => {
      this.answered = resolve;
      this.failed = reject;
      this.socket.write(text);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private fail(error: Error): void {
    this.failed?.(error);
    this.failed = undefined;
  }
}

export interface Load {
  readonly destination: Destination;
  readonly kind: Kind;
  readonly body: string;
  /** Chunks that a stream must have. */
  readonly chunks: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  readonly tally: Tally;
  /** Called when the window opens and when it closes. */
  readonly onWindow?: (edge: 'open' | 'close') => void;
}

/**
 * Keeps `connections` requests in the air through a warm-up and a window, then lets the last ones
 * finish. Counts what was answered inside the window. Throws at the first wrong answer.
 */
export async function runLoad(load: Load): Promise<Measured> {
  const text = requestText(load.destination, load.body);
  const opensAtMs = performance.now() + load.warmUpMs;
  const closesAtMs = opensAtMs + load.windowMs;
  const latenciesMs: number[] = [];
  const firstBytesMs: number[] = [];
  const edges = (['open', 'close'] as const).values();
  const nextEdge = () => {
    const edge = edges.next().value;
    if (edge !== undefined) load.onWindow?.(edge);
  };
  const timers = [load.warmUpMs, load.warmUpMs + load.windowMs].map((ms) => setTimeout(nextEdge, ms));

  const work = async (connection: Connection) => {
    for (let startedAtMs = performance.now(); startedAtMs < closesAtMs;) {
      const message = await connection.exchange(text);
      const nowMs = performance.now();
      count(load.tally, checkAnswer(load.kind, load.chunks, message).costNanoUsd);
      if (nowMs >= opensAtMs && nowMs < closesAtMs) {
        latenciesMs.push(nowMs - startedAtMs);
        if (load.kind === 'stream') firstBytesMs.push(connection.firstBodyAtMs - startedAtMs);
      }
      startedAtMs = nowMs;
    }
  };
  const connections = Array.from({ length: load.connections }, () => new Connection(load.destination.port));
  try {
    await Promise.all(connections.map(work));
    // The last answers may have come before their timers had a turn.
    nextEdge();
    nextEdge();
  } finally {
    for (const connection of connections) connection.close();
    for (const timer of timers) clearTimeout(timer);
  }
  return {
    requests: latenciesMs.length,
    chunks: load.kind === 'stream' ? latenciesMs.length * load.chunks : 0,
    seconds: load.windowMs / 1000,
    latenciesMs,
    firstBytesMs,
  };
}

/** Opens `streams` streams at once, one request each, and waits for all of them. Milliseconds taken. */
export async function runOnce(
  load: Pick<Load, 'destination' | 'body' | 'chunks' | 'tally'>,
  streams: number,
): Promise<number> {
  const text = requestText(load.destination, load.body);
  const startedAtMs = performance.now();
  const connections = Array.from({ length: streams }, () => new Connection(load.destination.port));
  try {
    await Promise.all(
      connections.map(async (connection) => {
        const message = await connection.exchange(text);
        count(load.tally, checkAnswer('stream', load.chunks, message).costNanoUsd);
      }),
    );
  } finally {
    for (const connection of connections) connection.close();
  }
  return performance.now() - startedAtMs;
}

function count(tally: Tally, costNanoUsd: number | undefined): void {
  tally.answers++;
  if (costNanoUsd === undefined) return;
  tally.priced++;
  tally.costNanoUsd += costNanoUsd;
}
