import { isOwnHost } from './same-origin';

it.each([
  'localhost',
  'localhost:8081',
  'dashboard.localhost:1',
  '127.0.0.1:8081',
  '127.9.9.9',
  '[::1]:8081',
])('accepts the host %s without a public origin', (host) =>
  expect(isOwnHost({ host, publicOrigin: undefined })).toBe(true),
);

it.each([
  undefined,
  '',
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'localhost:8081@evil.example',
  '10.0.0.5:8081',
  '[::2]',
])('rejects the host %s, which another site could own, without a public origin', (host) => {
  expect(isOwnHost({ host, publicOrigin: undefined })).toBe(false);
});

it('accepts any Host header with a public origin, behind a reverse proxy', () => {
  expect(isOwnHost({ host: 'dashboard-api.svc', publicOrigin: 'https://dashboard.example.com' })).toBe(true);
});
