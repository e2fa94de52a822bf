import { once } from 'node:events';
import { createServer } from 'node:http';
import express from 'express';
import { forward, passEvents } from './forward';
import { listen, type RunningRole } from './listen';

/** The same proxy on express 5 with its body parser and `res.send`, without unneeded middleware. */
export async function startExpressProxy(upstream: string): Promise<RunningRole> {
  const app = express();
  app.disable('etag');
  app.disable('x-powered-by');
  app.use(express.json({ limit: '32mb' }));
  app.post('/v1/chat/completions', async (request, response) => {
    const received = await forward(upstream, request.body);
    if (received.headers['content-type'] === 'application/json') {
      response.status(received.statusCode).send(await received.body.json());
      return;
    }
    response.status(received.statusCode).type('text/event-stream');
    await passEvents(
      received.body,
      (events) => response.write(events),
      async () => void (await once(response, 'drain')),
    );
    response.end();
  });
  const server = createServer(app);
  return listen(server, () => server.closeAllConnections());
}
