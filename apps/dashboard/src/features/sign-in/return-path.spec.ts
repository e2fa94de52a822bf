/** @jest-environment @happy-dom/jest-environment */
import { sanitizeReturnPath } from './return-path';

it.each(['/o/org-1/keys?show=all', '/account'])('accepts %s', (next) =>
  expect(sanitizeReturnPath(next)).toBe(next),
);

it.each([
  undefined,
  '',
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  'javascript:alert(1)',
  'account',
])('replaces %j with the start page', (next) => expect(sanitizeReturnPath(next)).toBe('/'));
