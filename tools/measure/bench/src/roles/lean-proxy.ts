import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import express from 'express';
import { Pool } from 'undici';
import { listen, type RunningRole } from './listen';

/** The least that a proxy on express 5 does: it parses the request, and passes the bytes of the response on. */
export async function startLeanProxy(upstream: string): Promise<RunningRole> {
  const pool = new Pool(upstream, { pipelining: 1, keepAliveTimeout: 60_000 });
  const app = express();
  app.use(express.json({ limit: '32mb' }));
  app.post('/v1/chat/completions', async (request, response) => {
    const received = await pool.request({
      path: '/v1/chat/completions',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request.body),
    });
    const type = String(received.headers['content-type']);
    response.status(received.statusCode).type(type);
    if (type === 'application/json') response.send(Buffer.from(await received.body.arrayBuffer()));
    else await pipeline(received.body, response);
  });
  const server = createServer(app);
  return listen(server, () => {
    server.closeAllConnections();
    void pool.destroy();
  });
}
