import { MAX_PUBLIC_TEXT_CHARACTERS, publicText } from './public-text';

describe("a provider's text", () => {
  it('does not contain account identifiers or "rate limit"', () => {
    const names = ['own', 'https://api.p.example/v1', 'api.p.example'];
    for (const [text, shown] of [
      ['key my-own-key is bad', 'key [removed] is bad'],
      ['see https://p.example/x?y=1 now', 'see [removed] now'],
      ['api.p.example said no', '[removed] said no'],
      [
        'organization org-AbCdEf123456 in project proj_Zz99887766',
        'organization [removed] in project [removed]',
      ],
      ['Incorrect API key: sk-abcdefghijkl', 'Incorrect API key: [removed]'],
      ['mail a.b@c.example', 'mail [removed]'],
      ['at 10.1.2.3:8080', 'at [removed]'],
      ['Rate-limit and rate_limit and RATE LIMIT', 'usage limit and usage limit and usage limit'],
      ['two\nlines\u0000', 'two lines'],
      ['model up-1 is full', 'model acme/m-1 is full'],
      ['an unknown group-1, up-10', 'an unknown group-1, up-10'],
      ['its own name', 'its [removed] name'],
      ['pinned to /srv/models/x@main', 'pinned to [removed]'],
    ]) {
      expect(
        publicText(text as string, { secrets: ['my-own-key'], names, renames: { 'up-1': 'acme/m-1' } }),
      ).toBe(shown);
    }
    expect(publicText(' \n')).toBeUndefined();
  });

  it('is bounded in linear time, for any content', () => {
    for (const text of ['a-1'.repeat(100_000), 'a'.repeat(1e6), '://'.repeat(1e5), 'x@'.repeat(1e5)]) {
      expect((publicText(text) ?? '').length).toBeLessThanOrEqual(MAX_PUBLIC_TEXT_CHARACTERS);
    }
  });
});
