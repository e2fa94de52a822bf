import { parseRedisUrl } from './redis-url';

describe('a Redis URL', () => {
  it.each([
    ['redis://redis', { form: 'single', address: { host: 'redis', port: 6379 }, database: 0, tls: false }],
    [
      'rediss://gateway:p%40ss@redis.example:6380/3',
      {
        form: 'single',
        address: { host: 'redis.example', port: 6380 },
        database: 3,
        tls: true,
        username: 'gateway',
        password: 'p@ss',
      },
    ],
    ['redis://:secret@[::1]:7000', { address: { host: '::1', port: 7000 }, password: 'secret' }],
    [
      'redis+sentinel://user:secret@a:1,b/main/2?sentinel_username=watch&sentinel_password=w%26',
      {
        form: 'sentinel',
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26379 },
        ],
        masterName: 'main',
        database: 2,
        username: 'user',
        password: 'secret',
        sentinelUsername: 'watch',
        sentinelPassword: 'w&',
      },
    ],
    [
      'rediss+cluster://user:secret@a,b:2',
      {
        form: 'cluster',
        tls: true,
        nodes: [
          { host: 'a', port: 6379 },
          { host: 'b', port: 2 },
        ],
      },
    ],
  ])('%s names its servers', (url, target) => {
    expect(parseRedisUrl(url)).toMatchObject(target);
  });

  it.each([
    ['http://redis', 'redis+sentinel:// or redis+cluster:// URL'],
    ['redis+other://redis', 'redis+sentinel:// or redis+cluster:// URL'],
    ['redis://', 'host or host:port'],
    ['redis://a,b', 'several hosts'],
    ['redis://a/zero', 'database that is not a number'],
    ['redis://a?family=6', 'no query parameters'],
    ['redis://user@a', 'user without a password'],
    ['redis://a:70000', '1 to 65535'],
    ['redis+sentinel://a,b', "primary's name"],
    ['redis+sentinel://a,,b/main', 'host or host:port'],
    ['redis+sentinel://a/main/0/1', "primary's name"],
    ['redis+sentinel://a/main?password=x', 'sentinel_username and sentinel_password only'],
    ['redis+cluster://a,b/1', 'no database'],
    ['redis+cluster://us%er:secret@a', 'percent sign'],
  ])('%s is rejected with the reason, without its secrets', (url, reason) => {
    expect(() => parseRedisUrl(url)).toThrow(reason);
    expect(() => parseRedisUrl(url)).not.toThrow('secret@');
  });
});
