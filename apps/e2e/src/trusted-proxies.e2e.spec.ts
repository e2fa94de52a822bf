import type { Tenant } from '@gateway/test-support';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

/** The tests call from the loopback address, which counts as a trusted proxy here. */
describe('IP allowlists behind trusted proxies', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({
      env: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1, ::1, 10.0.0.0/8, 2001:db8:1::/48' },
    });
    tenant = await testEnv.tenant();
  });

  afterAll(() => testEnv?.stop());

  async function codeFor(allowlist: string[], forwarded: string | undefined): Promise<string> {
    const { apiKey } = await tenant.createKey({ ip_allowlist: allowlist });
    const response = await fetch(`${testEnv.gateway.baseUrl}/models`, {
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
      },
    });
    const body = (await response.json()) as { error?: { code: string } };
    return body.error?.code ?? 'ok';
  }

  it.each<[string, string[], string | undefined, string]>([
    ['without a header, the peer address counts', ['127.0.0.1'], undefined, 'ok'],
    ['with one hop, the proxy address does not count', ['127.0.0.1'], '198.51.100.7', 'ip_not_allowed'],
    ['with one hop, its address counts', ['198.51.100.7'], '198.51.100.7', 'ok'],
    [
      'the rightmost hop that is no proxy counts',
      ['198.51.100.7'],
      '203.0.113.9, 198.51.100.7, 10.1.2.3',
      'ok',
    ],
    ['hops further left are not trusted', ['203.0.113.9'], '203.0.113.9, 198.51.100.7', 'ip_not_allowed'],
    ['if all hops are proxies, the leftmost counts', ['10.9.9.9'], '10.9.9.9, 10.1.1.1', 'ok'],
    ['a hop that is not an address matches no allowlist', ['0.0.0.0/0', '::/0'], 'unknown', 'ip_not_allowed'],
    [
      'hops to the left of an invalid address do not count',
      ['198.51.100.7'],
      '198.51.100.7, nonsense',
      'ip_not_allowed',
    ],
    ['an address with a port', ['198.51.100.7'], '198.51.100.7:4711', 'ok'],
    ['a range', ['198.51.100.0/24'], '198.51.100.200', 'ok'],
    ['outside a range', ['198.51.100.0/25'], '198.51.100.200', 'ip_not_allowed'],
    ['a range with bits set after its prefix', ['198.51.100.77/24'], '198.51.100.200', 'ok'],
    ['IPv6 in another notation', ['2001:db8::1'], '2001:0DB8:0:0::0001', 'ok'],
    ['IPv6 in brackets, with a port', ['2001:db8::1'], '[2001:db8::1]:443', 'ok'],
    ['an IPv6 range', ['2001:db8:2::/48'], '2001:db8:2:ffff::1', 'ok'],
    ['outside an IPv6 range', ['2001:db8:2::/48'], '2001:db8:3::1', 'ip_not_allowed'],
    ['an IPv6 proxy between client and gateway', ['198.51.100.7'], '198.51.100.7, 2001:db8:1::5', 'ok'],
    ['an IPv4-mapped IPv6 address', ['198.51.100.7'], '::ffff:198.51.100.7', 'ok'],
    ['an IPv4-mapped IPv6 address in hexadecimal', ['198.51.100.7'], '::ffff:c633:6407', 'ok'],
    ['a proxy with an IPv4-mapped IPv6 address', ['198.51.100.7'], '198.51.100.7, ::ffff:10.1.2.3', 'ok'],
    ['IPv4 matches no IPv6 range', ['::/0'], '198.51.100.7', 'ip_not_allowed'],
    ['IPv6 matches no IPv4 range', ['0.0.0.0/0'], '2001:db8::1', 'ip_not_allowed'],
    ['an IPv4-mapped IPv6 allowlist entry', ['::ffff:198.51.100.7'], '198.51.100.7', 'ok'],
  ])('%s', async (_, allowlist, forwarded, expected) => {
    expect(await codeFor(allowlist, forwarded)).toBe(expected);
  });
});
