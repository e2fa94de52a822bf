/** The servers of a database URL with one or several hosts, as libpq writes them. */
export interface DatabaseServers {
  /** A URL per host, in order. Each contains the password: never log it. */
  readonly urls: readonly [string, ...string[]];
  /** Whether connections may go to a standby or another read-only server. */
  readonly acceptsReadOnly: boolean;
}

/** Scheme, credentials with their `@`, hosts, and the rest. The last `@` of the authority ends the credentials. */
const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(.*)$/i;

/** As in libpq, except that the default is `read-write`, since almost every service writes. */
const ACCEPTS_READ_ONLY: ReadonlyMap<string, boolean> = new Map([
  ['read-write', false],
  ['primary', false],
  ['any', true],
]);

/**
 * Reads `postgres://user:password@host1:port1,host2:port2/database?target_session_attrs=read-write`.
 *
 * @throws Error without the password
 */
export function parseDatabaseUrl(url: string): DatabaseServers {
  const [, scheme = '', credentials = '', hosts = '', rest = ''] = PARTS.exec(url) ?? [];
  if (scheme === '') throw new Error('must be a postgres:// URL');
  const [first, ...others] = hosts
    .split(',')
    .map((host) => parseUrl(`${scheme}${credentials}${host}${rest}`));
  const wanted = first?.searchParams.get('target_session_attrs') ?? 'read-write';
  const acceptsReadOnly = ACCEPTS_READ_ONLY.get(wanted);
  if (first === undefined || acceptsReadOnly === undefined)
    throw new Error(`target_session_attrs must be ${[...ACCEPTS_READ_ONLY.keys()].join(', ')}`);
  return { urls: [urlOf(first), ...others.map(urlOf)], acceptsReadOnly };
}

function parseUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed?.hostname)
    throw new Error('must be a postgres:// URL with a host, or several separated by commas');
  return parsed;
}

/** The driver would send an unknown parameter to the server. */
function urlOf(url: URL): string {
  url.searchParams.delete('target_session_attrs');
  return url.toString();
}
