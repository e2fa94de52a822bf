import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createChatClient } from './client';

const chat = {
  marker: 'm1',
  kind: 'non-streaming',
  tenant: { name: 'first', organizationId: 'org_1', apiKey: 'sk-gw-test' },
  tokens: 1,
  chunks: 0,
} as const;

it('lets connections be reused, unless each request is to have its own', async () => {
  const received: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    received.push(headers.connection);
    response.end('{"usage":{"cost":0}}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  for (const closesConnections of [false, true]) {
    const client = createChatClient(baseUrl, 'demo/standard', { closesConnections });
    expect(await client.send(chat)).toMatchObject({ outcome: 'completed', status: 200 });
    await client.close();
  }
  server.close();
  expect(received).toEqual(['keep-alive', 'close']);
});
