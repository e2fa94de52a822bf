import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

/** Writes keep-alive comments into event streams that have been silent for a while. */
export interface KeepAlive {
  /** @returns what to call when the stream ends. */
  watch(stream: SilentStream): () => void;
  start(): void;
  stop(): void;
}

interface SilentStream {
  /** Gone once it is no longer watched: a set may keep hold of an entry for a while after its deletion. */
  response: ServerResponse | undefined;
  lastWriteMs: number;
}

export interface KeepAliveOptions {
  /** The longest silence: a comment is written before it is over. */
  readonly idleMs: number;
}

const COMMENT = ': keep-alive\n\n';

/** Looks per interval, and the longest time between two: a comment comes this much early, never late. */
const LOOKS_PER_INTERVAL = 60;
const MAX_LOOK_MS = 250;

/** One timer for all streams: a thousand slow ones cost one look each per tick. */
export function createKeepAlive(now: () => number, { idleMs }: KeepAliveOptions): KeepAlive {
  const streams = new Set<SilentStream>();
  const lookMs = Math.max(10, Math.min(MAX_LOOK_MS, Math.floor(idleMs / LOOKS_PER_INTERVAL)));
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    const at = now();
    for (const stream of streams) {
      const { response, lastWriteMs } = stream;
      if (at - lastWriteMs + lookMs <= idleMs || !response || isBehind(response)) continue;
      stream.lastWriteMs = at;
      response.write(COMMENT);
    }
  }

  return {
    watch: (stream) => {
      streams.add(stream);
      return () => {
        stream.response = undefined;
        streams.delete(stream);
      };
    },
    start: () => {
      timer = setInterval(tick, lookMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** A stream that waits for its reader has plenty to send and needs no comment. */
function isBehind(response: ServerResponse): boolean {
  return response.writableNeedDrain || response.socket?.writableNeedDrain === true;
}

/** The body of an event stream, for one writer. */
export interface EventStream {
  /** @returns a promise only when the reader is behind: resolved when it has caught up or cancelled. */
  write(bytes: Buffer): Promise<void> | undefined;
  /** Stops the keep-alive comments; safe to call twice. */
  close(): void;
}

/** @param response whose head is sent. */
export function createEventStream(
  response: ServerResponse,
  keepAlive: KeepAlive,
  now: () => number,
): EventStream {
  const stream: SilentStream = { response, lastWriteMs: now() };
  const unwatch = keepAlive.watch(stream);
  return {
    write: (bytes) => {
      stream.lastWriteMs = now();
      return write(response, bytes);
    },
    close: unwatch,
  };
}

/**
 * A chunk goes to the socket as one string. Node's own `write` hands over its
 * length, its bytes and its end as three, and to gather them takes as long again
 * as to send them. It is for all that is not plain: a caller of HTTP/1.0, an
 * answer that waits behind another's, a connection that is ending.
 */
function write(response: ServerResponse, bytes: Buffer): Promise<void> | undefined {
  const { socket } = response;
  // A chunk of nothing would be the last of its body.
  if (!socket?.writable || !response.chunkedEncoding || bytes.length === 0)
    return response.write(bytes) ? undefined : drained(response, response);
  // As latin1 every byte is a character and stays what it is.
  const chunk = `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`;
  return socket.write(chunk, 'latin1') ? undefined : drained(socket, response);
}

function drained(target: Writable, response: ServerResponse): Promise<void> | undefined {
  if (response.destroyed || response.closed) return undefined;
  return new Promise((resolve) => {
    const settle = () => {
      target.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    target.on('drain', settle);
    response.on('close', settle);
  });
}
