import { sanitizeReturnPath } from './sanitize-return-path';

describe('the return path of a sign-in', () => {
  it.each(['/', '/o/org-1/keys?show=all', '/usage?from=2026-11-01&to=2026-11-20'])(
    'may be a path of the dashboard: %s',
    (path) => {
      expect(sanitizeReturnPath(path)).toBe(path);
    },
  );

  it.each([
    ...[
      '',
      'o/org-1',
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
    ],
    ...[
      'https://evil.example',
      'javascript:alert(1)',
      '/.//evil.example',
      '/a/..//evil.example',
      '/\r\nset-cookie: a=b',
    ],
    `/${'a'.repeat(500)}`,
  ])('is the start page instead of %j', (path) => {
    expect(sanitizeReturnPath(path)).toBe('/');
  });

  it('never leads to another origin', () => {
    const segments = ['/', '\\', '.', '..', '@', ':', '?', '#', 'evil.example', '%2f', '\t', 'a'];
    for (let one = 0; one < segments.length ** 4; one += 1) {
      const text = `/${[0, 1, 2, 3].map((place) => segments[Math.floor(one / segments.length ** place) % segments.length]).join('')}`;
      expect(new URL(sanitizeReturnPath(text), 'https://own.example').origin).toBe('https://own.example');
    }
  });
});
