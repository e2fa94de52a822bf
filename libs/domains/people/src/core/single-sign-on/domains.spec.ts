import { canonicalDomain, domainOf } from './domains';

describe('domains of emails', () => {
  it.each([
    ['Example.COM', 'example.com'],
    [' example.com. ', 'example.com'],
    ['mail.example.co.uk', 'mail.example.co.uk'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('have one canonical form: %s', (text, canonical) => {
    expect(canonicalDomain(text)).toBe(canonical);
  });

  it.each([
    ...[
      '',
      'localhost',
      'example',
      '192.0.2.1',
      '[::1]',
      'example.com/path',
      'example.com:80',
      'user@example.com',
    ],
    ...[
      'exa mple.com',
      '*.example.com',
      '-a.example',
      'a..example',
      'example.com?',
      'example.com#',
      `${'a'.repeat(250)}.com`,
    ],
  ])('are not %j', (text) => {
    expect(canonicalDomain(text)).toBeUndefined();
  });

  it('are the part after the last @', () => {
    expect(domainOf('"a@b.example"@c.example')).toBe('c.example');
    expect(domainOf('ada@sub.example.com')).toBe('sub.example.com');
  });
});
