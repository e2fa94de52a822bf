import { createServer, type Socket } from 'node:net';
import { slowStreamIn, STREAM_CHUNKS, TICK_MS, streamEvents, nonStreamingBody } from '../canned';
import { HttpMessageReader } from '../http-message';
import { listen, type RunningRole } from './listen';

const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'transfer-encoding: chunked\r\n\r\n';
const LAST_HTTP_CHUNK = '0\r\n\r\n';

/** One HTTP chunk per SSE event, as a provider that flushes each token sends them. */
function httpChunk(event: string): string {
  return `${event.length.toString(16)}\r\n${event}\r\n`;
}

function canned(includeUsage: boolean): Buffer {
  const chunks = streamEvents(STREAM_CHUNKS, includeUsage).map(httpChunk);
  return Buffer.from(STREAM_HEAD + chunks.join('') + LAST_HTTP_CHUNK);
}

/**
 * The provider of all targets: precomputed bytes over raw sockets, so that its cost is negligible.
 */
export async function startUpstream(): Promise<RunningRole> {
  const body = nonStreamingBody();
  const nonStreaming = Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const stream = canned(false);
  const streamWithUsage = canned(true);
  const slow = new SlowStreams();
  const sockets = new Set<Socket>();

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.setEncoding('latin1');
    const reader = new HttpMessageReader(({ body: request }) => {
      if (!request.includes('"stream":true')) {
        socket.write(nonStreaming);
        return;
      }
      const includeUsage = request.includes('"include_usage":true');
      const requested = slowStreamIn(request);
      if (!requested) {
        socket.write(includeUsage ? streamWithUsage : stream);
      } else {
        slow.add(socket, streamEvents(requested.chunks, includeUsage), requested.everyTicks);
      }
    });
    socket.on('data', (text: string) => reader.push(text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      slow.remove(socket);
    });
  });
  return listen(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}

interface OpenStream {
  readonly events: readonly string[];
  readonly everyTicks: number;
  next: number;
  ticksLeft: number;
}

/** Writes the next event of every slow stream that is due, with one timer for all. */
class SlowStreams {
  private readonly streams = new Map<Socket, OpenStream>();
  private added = 0;
  private timer: NodeJS.Timeout | undefined;

  add(socket: Socket, events: readonly string[], everyTicks: number): void {
    socket.write(STREAM_HEAD);
    // Concurrent streams write at different ticks.
    const ticksLeft = 1 + (this.added++ % everyTicks);
    this.streams.set(socket, { events, everyTicks, next: 0, ticksLeft });
    this.timer ??= setInterval(() => this.tick(), TICK_MS);
  }

  remove(socket: Socket): void {
    this.streams.delete(socket);
    if (this.streams.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private tick(): void {
    for (const [socket, stream] of this.streams) {
      stream.ticksLeft -= 1;
      if (stream.ticksLeft > 0) continue;
      stream.ticksLeft = stream.everyTicks;
      const event = stream.events[stream.next++];
      if (event === undefined) {
        socket.write(LAST_HTTP_CHUNK);
        this.remove(socket);
      } else {
        socket.write(httpChunk(event));
      }
    }
  }
}
