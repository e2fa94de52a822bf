import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpoints, type Endpoint } from '@gateway/dashboard-contract';
import express from 'express';
import { sendJson } from './send-json';

describe('JSON of an endpoint', () => {
  let server: Server;
  let shown: { readonly endpoint: Endpoint; readonly value: unknown };

  beforeAll(async () => {
    const app = express();
    app.get('/', (request, response) =>
      sendJson(request, response, shown.endpoint, JSON.stringify(shown.value)),
    );
    server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  async function read(accepted: string) {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': accepted } });
    return {
      encoding: response.headers.get('content-encoding'),
      vary: response.headers.get('vary'),
      bytes: Number(response.headers.get('content-length')),
      type: response.headers.get('content-type'),
      value: await response.json(),
    };
  }

  const LONG = { data: Array.from({ length: 100 }, (_, index) => ({ id: `key-${index}`, state: 'active' })) };

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0, identity', null],
  ])('is compressed if the list is long and the client accepts it: %s', async (accepted, encoding) => {
    shown = { endpoint: endpoints.keys.list, value: LONG };
    const response = await read(accepted);
    expect(response).toMatchObject({ encoding, vary: 'accept-encoding', value: LONG });
    expect(response.type).toBe('application/json; charset=utf-8');
    if (encoding !== null) expect(response.bytes).toBeLessThan(JSON.stringify(LONG).length / 5);
  });

  it('is not compressed if it is short', async () => {
    shown = { endpoint: endpoints.keys.list, value: { data: [] } };
    expect(await read('br, gzip')).toMatchObject({ encoding: null, value: { data: [] } });
  });

  it('is not compressed if its endpoint returns secrets', async () => {
    for (const endpoint of [endpoints.keys.create, endpoints.credit.alert, endpoints.session.current]) {
      shown = { endpoint, value: LONG };
      expect(await read('br, gzip')).toMatchObject({ encoding: null, value: LONG });
    }
  });
});
