import { connect } from 'node:net';
import { KEY, startEdge, type TestEdge } from '../../../testing/start-edge';

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

function responseTo(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(edge.port, '127.0.0.1', () => socket.write(bytes));
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

it.each([
  ['bytes that are not HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
  ['a malformed header', 'GET /v1/models HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400, 'invalid_request'],
  ['an unknown method', 'BREW /v1/models HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'invalid_request'],
  [
    'two lengths',
    'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    400,
    'invalid_request',
  ],
  [
    'a malformed chunk',
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    400,
    'invalid_request',
  ],
  [
    'endless headers',
    `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(70_000)}\r\n\r\n`,
    413,
    'request_too_large',
  ],
  ['no Host', 'GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'invalid_request'],
  [
    'two Hosts',
    'GET /v1/models HTTP/1.1\r\nhost: x\r\nHost: x\r\nconnection: close\r\n\r\n',
    400,
    'invalid_request',
  ],
  ['CONNECT', 'CONNECT example:443 HTTP/1.1\r\nhost: x\r\n\r\n', 404, 'route_not_found'],
])('responds to %s with the error envelope', async (_name, bytes, status, code) => {
  const received = await responseTo(bytes);
  const [head = '', body = ''] = received.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/x-request-id: req_/i);
  expect(head).toMatch(/content-type: application\/json/i);
  expect(JSON.parse(body)).toMatchObject({ error: { code, message: expect.any(String), metadata: {} } });
});
