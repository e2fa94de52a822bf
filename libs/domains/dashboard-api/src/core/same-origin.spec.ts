import { isOwnHost } from './same-origin';

it.each([
  'localhost',
  'localhost:8081',
  'dashboard.localhost:1',
  '127.0.0.1:8081',
  '127.9.9.9',
  '[::1]:8081',
])('without a public origin answers as %s', (host) =>
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
])('without a public origin does not answer as %s, which another site could lead here', (host) => {
  expect(isOwnHost({ host, publicOrigin: undefined })).toBe(false);
});

it('leaves the Host header to the reverse proxy when the public origin is known', () => {
  expect(isOwnHost({ host: 'dashboard-api.svc', publicOrigin: 'https://dashboard.example.com' })).toBe(true);
});
