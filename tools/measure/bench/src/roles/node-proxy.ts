import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { forward, passEvents } from './forward';
import { listen, type RunningRole } from './listen';

/** A minimal Node.js proxy that parses both bodies: node:http and undici, without checks or billing. */
export async function startNodeProxy(upstream: string): Promise<RunningRole> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      proxyRequest(upstream, Buffer.concat(chunks).toString(), response).catch(() => response.destroy());
    });
    request.on('error', () => response.destroy());
  });
  return listen(server, () => server.closeAllConnections());
}

async function proxyRequest(
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
