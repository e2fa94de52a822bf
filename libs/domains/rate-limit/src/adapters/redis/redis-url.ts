/** Where Redis is, and in which form. */
export type RedisTarget = SingleTarget | SentinelTarget | ClusterTarget;

interface TargetBase {
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
}

interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** One endpoint: a server, or a name or proxy that leads to the current primary. */
export interface SingleTarget extends TargetBase {
  readonly form: 'single';
  readonly address: RedisAddress;
  readonly database: number;
}

export interface SentinelTarget extends TargetBase {
  readonly form: 'sentinel';
  readonly sentinels: readonly RedisAddress[];
  readonly masterName: string;
  readonly database: number;
  /** The user of the Sentinels themselves; `username` and `password` are those of the data servers. */
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
}

export interface ClusterTarget extends TargetBase {
  readonly form: 'cluster';
  /** Nodes to discover the others from. */
  readonly nodes: readonly RedisAddress[];
}

const FORMS = { '': 'single', '+sentinel': 'sentinel', '+cluster': 'cluster' } as const;
const DEFAULT_PORT = 6_379;
const DEFAULT_SENTINEL_PORT = 26_379;
const MAX_PORT = 65_535;
/** Scheme, user information, hosts, path and query. URL does not accept several hosts. */
const PATTERN =
  /^(rediss?)(\+sentinel|\+cluster)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

/**
 * Parses `redis://[user:password@]host[:port][/database]`,
 * `redis+sentinel://[user:password@]host[:port],…/master-name[/database]` and
 * `redis+cluster://[user:password@]host[:port],…`. The scheme `rediss…` uses TLS.
 * `?sentinel_username=…&sentinel_password=…` authenticates with the Sentinels.
 *
 * @throws Error whose message names the problem and contains no part of the URL.
 */
export function parseRedisUrl(url: string): RedisTarget {
  const [, scheme, suffix = '', userInfo, hosts = '', path = '', query] = PATTERN.exec(url) ?? [];
  if (scheme === undefined)
    throw new Error(
      'must be a redis://, redis+sentinel:// or redis+cluster:// URL, or one with rediss for TLS',
    );
  const form = FORMS[suffix as keyof typeof FORMS];
  const base = { tls: scheme === 'rediss', ...readCredentials(userInfo) };
  const addresses = hosts
    .split(',')
    .map((host) => readAddress(host, form === 'sentinel' ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT));
  const segments = path === '' ? [] : path.split('/').map(decode);
  const options = new URLSearchParams(query ?? '');
  if (form !== 'sentinel' && query !== undefined && query !== '')
    throw new Error('accepts no query parameters, except with redis+sentinel://');

  if (form === 'cluster') {
    if (segments.length > 0) throw new Error('of a Redis Cluster accepts no database: it has only one');
    return { form, nodes: addresses, ...base };
  }
  if (form === 'sentinel') {
    const [masterName = '', database, ...rest] = segments;
    if (masterName === '' || rest.length > 0)
      throw new Error("must end in the primary's name for Sentinel: redis+sentinel://host,host/master-name");
    const sentinel = readSentinelCredentials(options);
    return { form, sentinels: addresses, masterName, database: readDatabase(database), ...base, ...sentinel };
  }
  const [address, ...others] = addresses;
  if (address === undefined || others.length > 0)
    throw new Error('with several hosts must be a redis+sentinel:// or redis+cluster:// URL');
  const [database, ...rest] = segments;
  if (rest.length > 0) throw new Error('must end in the number of a database, or in the port');
  return { form, address, database: readDatabase(database), ...base };
}

function readCredentials(userInfo: string | undefined): Pick<TargetBase, 'username' | 'password'> {
  if (userInfo === undefined || userInfo === '') return {};
  const colon = userInfo.indexOf(':');
  if (colon < 0) throw new Error('has a user without a password: write user:password@, or :password@');
  const [username, password] = [decode(userInfo.slice(0, colon)), decode(userInfo.slice(colon + 1))];
  if (password === '') throw new Error('has an empty password');
  return { password, ...(username !== '' && { username }) };
}

function readSentinelCredentials(
  options: URLSearchParams,
): Pick<SentinelTarget, 'sentinelUsername' | 'sentinelPassword'> {
  for (const name of options.keys()) {
    if (name !== 'sentinel_username' && name !== 'sentinel_password')
      throw new Error('accepts the query parameters sentinel_username and sentinel_password only');
  }
  const [username, password] = [options.get('sentinel_username'), options.get('sentinel_password')];
  if (username !== null && password === null) throw new Error('has a sentinel_username without a password');
  return {
    ...(username && { sentinelUsername: username }),
    ...(password && { sentinelPassword: password }),
  };
}

function readAddress(text: string, defaultPort: number): RedisAddress {
  const [, ipv6, name, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = ipv6 ?? name;
  if (host === undefined) throw new Error('must have hosts as host or host:port, separated by commas');
  const number = port === undefined ? defaultPort : Number(port);
  if (number < 1 || number > MAX_PORT) throw new Error(`has a port that is not 1 to ${MAX_PORT}`);
  return { host, port: number };
}

function readDatabase(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  if (!/^\d{1,5}$/.test(text)) throw new Error('has a database that is not a number');
  return Number(text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('has a percent sign that encodes nothing: write %25');
  }
}
