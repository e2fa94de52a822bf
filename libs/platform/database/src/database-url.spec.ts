import { databaseUrlSetting } from './database-settings';
import { parseDatabaseUrl } from './database-url';

describe('a database URL', () => {
  it('has a URL for each of its hosts, in order, with the credentials and parameters', () => {
    const url =
      'postgres://u:p%40s@h1:5432,h2,[::1]:5433/shop?sslmode=verify-full&target_session_attrs=read-write';
    expect(parseDatabaseUrl(url)).toEqual({
      urls: [
        'postgres://u:p%40s@h1:5432/shop?sslmode=verify-full',
        'postgres://u:p%40s@h2/shop?sslmode=verify-full',
        'postgres://u:p%40s@[::1]:5433/shop?sslmode=verify-full',
      ],
      acceptsReadOnly: false,
    });
  });

  it.each([
    ['', false],
    ['?target_session_attrs=read-write', false],
    ['?target_session_attrs=primary', false],
    ['?target_session_attrs=any', true],
  ])('with the parameters "%s" accepts a read-only server: %s', (parameters, acceptsReadOnly) => {
    expect(parseDatabaseUrl(`postgresql://u@h/shop${parameters}`)).toEqual({
      urls: ['postgresql://u@h/shop'],
      acceptsReadOnly,
    });
  });

  it.each([
    ['mysql://u:secret@h/shop', 'must be a postgres:// URL'],
    ['postgres://u:secret@h1:port,h2/shop', 'a host, or several'],
    ['postgres://u:secret@h1,,h2/shop', 'a host, or several'],
    ['postgres:///shop', 'a host, or several'],
    ['postgres://u:secret@h/shop?target_session_attrs=standby', 'must be read-write, primary, any'],
  ])('%s is refused without its password', (url, message) => {
    const { error } = databaseUrlSetting.safeParse(url);
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain('secret');
  });
});
