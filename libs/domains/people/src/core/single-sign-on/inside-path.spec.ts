import { insidePath } from './inside-path';

describe('where a sign-in goes on to', () => {
  it.each(['/', '/o/org-1/keys?show=all', '/usage?from=2026-11-01&to=2026-11-20'])(
    'is a path of ours: %s',
    (path) => {
      expect(insidePath(path)).toBe(path);
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
    expect(insidePath(path)).toBe('/');
  });

  it('never leads to another origin, whatever it was', () => {
    const pieces = ['/', '\\', '.', '..', '@', ':', '?', '#', 'evil.example', '%2f', '\t', 'a'];
    for (let one = 0; one < pieces.length ** 4; one += 1) {
      const text = `/${[0, 1, 2, 3].map((place) => pieces[Math.floor(one / pieces.length ** place) % pieces.length]).join('')}`;
      expect(new URL(insidePath(text), 'https://own.example').origin).toBe('https://own.example');
    }
  });
});
