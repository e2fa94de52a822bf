import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { forward, passEvents } from './forward';
import { listen, type RunningRole } from './listen';

/** The least a Node proxy can do that reads both bodies: node:http and undici, no checks, no money. */
export async function startNodeProxy(upstream: string): Promise<RunningRole> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      answer(upstream, Buffer.concat(pieces).toString(), response).catch(() => response.destroy());
    });
    request.on('error', () => response.destroy());
  });
  return listen(server, () => server.closeAllConnections());
}

async function answer(
  upstream: string,
  text: string,
  response: ServerResponse<IncomingMessage>,
): Promise<void> {
  const received = await forward(upstream, JSON.parse(text));
  if (received.headers['content-type'] === 'application/json') {
    const body = JSON.stringify(await received.body.json());
    response.writeHead(received.statusCode, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
    return;
  }
  response.writeHead(received.statusCode, { 'content-type': 'text/event-stream' });
  await passEvents(
    received.body,
    (events) => response.write(events),
    async () => void (await once(response, 'drain')),
  );
  response.end();
}
