import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { checkResponse } from './check';
import type { Kind } from './canned';
import { HttpMessageReader, type HttpMessage } from './http-message';

/** The URL, key and headers of requests. */
export interface Destination {
  readonly port: number;
  readonly path: string;
  readonly apiKey: string;
  /** Additional headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests inside the measuring window and their latencies. */
export interface Measured {
  readonly requests: number;
  readonly chunks: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** Until the first byte of a stream's body; empty otherwise. */
  readonly firstBytesMs: readonly number[];
}

/** Totals of all requests to a destination, including the warm-up, for comparison with the charges. */
export interface Tally {
  responses: number;
  /** Responses that contain a cost. */
  priced: number;
  costNanoUsd: number;
}

export function newTally(): Tally {
  return { responses: 0, priced: 0, costNanoUsd: 0 };
}

const RESPONSE_TIMEOUT_MS = 60_000;

function requestText(destination: Destination, body: string): string {
  const headers = Object.entries(destination.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `POST ${destination.path} HTTP/1.1\r\nhost: 127.0.0.1:${destination.port}\r\n` +
    `authorization: Bearer ${destination.apiKey}\r\ncontent-type: application/json\r\n` +
    `${headers.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** A keep-alive connection with one request in flight. */
class Connection {
  private readonly socket: Socket;
  private onResponse: ((message: HttpMessage) => void) | undefined;
  private failed: ((error: Error) => void) | undefined;
  firstBodyAtMs = 0;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.setTimeout(RESPONSE_TIMEOUT_MS, () =>
      this.socket.destroy(new Error(`no response within ${RESPONSE_TIMEOUT_MS / 1000} s`)),
    );
    const reader = new HttpMessageReader(
      (message) => this.onResponse?.(message),
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
      this.onResponse = resolve;
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
 * Keeps `connections` requests in flight during a warm-up and a measuring window, then waits for the last
 * ones. Counts responses inside the window. Throws at the first incorrect response.
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
      count(load.tally, checkResponse(load.kind, load.chunks, message).costNanoUsd);
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
    // The last responses may have arrived before the timers fired.
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

/** Runs `streams` concurrent streams, one request each. @returns the duration in milliseconds */
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
        count(load.tally, checkResponse('stream', load.chunks, message).costNanoUsd);
      }),
    );
  } finally {
    for (const connection of connections) connection.close();
  }
  return performance.now() - startedAtMs;
}

function count(tally: Tally, costNanoUsd: number | undefined): void {
  tally.responses++;
  if (costNanoUsd === undefined) return;
  tally.priced++;
  tally.costNanoUsd += costNanoUsd;
}
