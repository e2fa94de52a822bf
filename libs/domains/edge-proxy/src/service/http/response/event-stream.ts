import { ShortLivedSet } from '@gateway/base';
import type { ServerResponse } from 'node:http';
import { isBehind, writeChunk } from './response-sink';

/** Writes keep-alive comments into event streams that have been silent for a while. */
export interface KeepAlive {
  /** @returns a function that ends the watch. */
  watch(stream: SilentStream): () => void;
  start(): void;
  stop(): void;
}

interface SilentStream {
  readonly response: ServerResponse;
  lastWriteMs: number;
  /** Sends the head; undefined once it is sent. */
  sendHead: (() => void) | undefined;
}

export interface KeepAliveOptions {
  /** The longest silence: a comment is written before it is over. */
  readonly idleMs: number;
  /** The same before the head is sent. */
  readonly firstMs: number;
}

const COMMENT = ': keep-alive\n\n';

/** A comment is written at most one check early, never late. */
const CHECKS_PER_INTERVAL = 60;
const MAX_CHECK_MS = 250;

/** One timer for all streams: each tick checks every stream once. */
export function createKeepAlive(now: () => number, { idleMs, firstMs }: KeepAliveOptions): KeepAlive {
  const streams = new ShortLivedSet<SilentStream>();
  const checkMs = Math.max(
    10,
    Math.min(MAX_CHECK_MS, Math.floor(Math.min(idleMs, firstMs) / CHECKS_PER_INTERVAL)),
  );
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    const at = now();
    for (const stream of streams) {
      const { response, lastWriteMs, sendHead } = stream;
      const silenceMs = sendHead ? firstMs : idleMs;
      if (at - lastWriteMs + checkMs <= silenceMs || response.closed) continue;
      // A stream whose reader is behind has data to send and needs no comment.
      if (isBehind(response)) continue;
      stream.lastWriteMs = at;
      openStream(stream);
      response.write(COMMENT);
    }
  }

  return {
    watch: (stream) => streams.add(stream),
    start: () => {
      timer = setInterval(tick, checkMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

function openStream(stream: SilentStream): void {
  const { sendHead } = stream;
  stream.sendHead = undefined;
  sendHead?.();
}

/** The body of an event stream, for one writer. */
export interface EventStream {
  /** Whether the head is sent. */
  readonly isOpen: boolean;
  /** @returns a promise only when the reader is behind: resolves when it has caught up or disconnected. */
  write(events: Buffer | string): Promise<void> | undefined;
  /** Stops the keep-alive comments; safe to call twice. */
  close(): void;
}

/**
 * The head waits for the first event, so that a failure until then has its own status. A comment is sent if no event
 * arrives in time.
 *
 * @param sendHead called once, before the first event or comment.
 */
export function createEventStream(
  response: ServerResponse,
  keepAlive: KeepAlive,
  now: () => number,
  sendHead: () => void,
): EventStream {
  const stream: SilentStream = { response, lastWriteMs: now(), sendHead };
  const unwatch = keepAlive.watch(stream);
  return {
    get isOpen() {
      return stream.sendHead === undefined;
    },
    write: (events) => {
      stream.lastWriteMs = now();
      openStream(stream);
      return writeChunk(response, events);
    },
    close: unwatch,
  };
}
