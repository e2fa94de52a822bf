import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestClock } from '@gateway/test-support';
import { createWebhookSender, webhookUrlIssue } from './webhook-sender';

let server: Server;
let requests: number;
let redirectTo: string | undefined;

beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    if (redirectTo) response.writeHead(302, { location: redirectTo }).end();
    else response.writeHead(200).end('x'.repeat(200_000));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  requests = 0;
  redirectTo = undefined;
});

const at = (host: string) => `http://${host}:${(server.address() as AddressInfo).port}/hook`;

async function sendTo(url: string, allowPrivateAddresses: boolean): Promise<string | undefined> {
  const sender = createWebhookSender({ clock: createTestClock(), allowPrivateAddresses });
  try {
    await sender.send({ url, secret: 'whsec_x' }, { event: 'test' });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await sender.close();
  }
}

it('closes twice, as a process stops its modules', async () => {
  const sender = createWebhookSender({ clock: createTestClock() });
  await sender.close();
  await sender.close();
});

it.each([
  '127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  '2130706433',
  '0x7f.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[fd00::1]',
])('an address such as https://%s is refused before anything is sent', (host) => {
  expect(webhookUrlIssue(`https://${host}/hook`, false)).toBe('must not be a private or local address');
});

it('a name that resolves to a local address is refused when connecting', async () => {
  const { port } = server.address() as AddressInfo;
  expect(webhookUrlIssue(`https://localhost:${port}/`, false)).toBeUndefined();
  expect(await sendTo(`https://localhost:${port}/hook`, false)).toBe('The address is in a private network.');
  expect(requests).toBe(0);
});

it('plain http requires that private networks are allowed', async () => {
  expect(await sendTo(at('127.0.0.1'), false)).toBe('The address must be an https:// URL.');
  expect(requests).toBe(0);
  expect(await sendTo(at('127.0.0.1'), true)).toBeUndefined();
  expect(await sendTo(at('localhost'), true)).toBeUndefined();
  expect(requests).toBe(2);
});

it('a redirect is not followed', async () => {
  redirectTo = at('127.0.0.1');
  expect(await sendTo(at('127.0.0.1'), true)).toBe('The webhook returned status 302.');
  expect(requests).toBe(1);
});

it('a connection error is reported without details', async () => {
  expect(await sendTo('http://127.0.0.1:1/', true)).toBe('The webhook could not be reached.');
});
