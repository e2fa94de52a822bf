import { type ServerResponse } from 'node:http';

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
      // A stream that waits for its reader has plenty to send and needs no comment.
      if (at - lastWriteMs + lookMs <= idleMs || !response || response.writableNeedDrain) continue;
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

/** The body of an event stream, for one writer. */
export interface EventStream {
  /** @returns a promise only when the reader is behind: resolved when it has caught up or cancelled. */
  write(bytes: Uint8Array | string): Promise<void> | undefined;
  /** Stops the keep-alive comments; safe to call twice. */
  close(): void;
}

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
      return response.write(bytes) ? undefined : drained(response);
    },
    close: unwatch,
  };
}

function drained(response: ServerResponse): Promise<void> | undefined {
  if (response.destroyed || response.closed) return undefined;
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}
