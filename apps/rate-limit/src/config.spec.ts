import { readConfig } from '@gateway/runtime';
import { settings } from './config';

const required = { GATEWAY_RPC_SECURITY: 'plaintext', REDIS_URL: 'redis://redis' };

describe('the settings of rate-limit', () => {
  it.each([
    'redis://redis:6379/0',
    'rediss+sentinel://gateway:secret@a:26379,b:26379/main',
    'redis+cluster://a:6379,b:6379',
  ])('accept %s', (url) => {
    expect(readConfig(settings, { ...required, REDIS_URL: url }).REDIS_URL).toBe(url);
  });

  it.each([
    ['redis+sentinel://gateway:secret@a,b', "REDIS_URL: must end in the primary's name"],
    ['redis+cluster://gateway:secret@a/1', 'REDIS_URL: of a Redis Cluster accepts no database'],
    ['http://gateway:secret@a', 'REDIS_URL: must be a redis://'],
  ])('reject %s without showing its password', (url, reason) => {
    const read = () => readConfig(settings, { ...required, REDIS_URL: url });
    expect(read).toThrow(reason);
    expect(read).not.toThrow('secret');
  });
});
