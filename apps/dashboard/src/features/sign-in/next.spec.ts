/** @jest-environment @happy-dom/jest-environment */
import { insideOnly } from './next';

it.each(['/o/org-1/keys?show=all', '/account'])('goes on to %s', (next) =>
  expect(insideOnly(next)).toBe(next),
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
])('goes to the start for %j', (next) => expect(insideOnly(next)).toBe('/'));
