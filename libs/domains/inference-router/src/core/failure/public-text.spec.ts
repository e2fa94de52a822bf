import { MAX_PUBLIC_TEXT_CHARACTERS, operatorText, publicText } from './public-text';

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

describe('a secret in a text', () => {
  const secret = 'Basic  own-provider-secret-0123456789';

  it.each([0, 380, 390, 980, 990, 1_580, 1_590, 1_990, 3_990])(
    'is removed before the text is cut, after %d characters',
    (before) => {
      for (const filler of [' ', 'x', 'x ', '\n']) {
        const text = filler.repeat(before).slice(0, before) + secret + ' and more'.repeat(300);
        for (const shown of [publicText(text, { secrets: [secret] }), operatorText(text, [secret])])
          expect(shown ?? '').not.toMatch(/Basic|own-/);
      }
    },
  );

  it('is removed as the provider repeats it, with other white space', () => {
    expect(operatorText('bad header: Basic own-provider-secret-0123456789', [secret])).toBe(
      'bad header: [removed]',
    );
  });

  it('that only a pattern recognizes is not shown in part', () => {
    for (let before = 1_560; before < 1_600; before += 1) {
      const text = `${' '.repeat(20)}${'https://p.example/'.padEnd(before - 20, 'x')} sk-abcdefghijklmnop`;
      expect(publicText(text) ?? '').not.toMatch(/sk-/);
    }
  });
});
