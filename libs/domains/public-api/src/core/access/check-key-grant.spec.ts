import type { UnixMs } from '@gateway/base';
import { refusalError } from '@gateway/errors';
import { checkKeyGrant, type KeyGrantView, type KeyUse } from './check-key-grant';

const goodGrant: KeyGrantView = {
  revoked: false,
  scopes: ['chat'],
  ipAllowlist: [],
  organizationSuspended: false,
};

const goodUse: KeyUse = {
  address: '192.0.2.1',
  now: Date.parse('2026-11-20T12:00:00Z') as UnixMs,
  scope: 'chat',
  isAddressAllowed: (address, allowlist) => allowlist.includes(address),
};

function codeOf(grant: Partial<KeyGrantView>, use: Partial<KeyUse> = {}): string | undefined {
  return checkKeyGrant({ ...goodGrant, ...grant }, { ...goodUse, ...use })?.code;
}

/** In the order in which they are answered. */
const faults: readonly [string, Partial<KeyGrantView>][] = [
  ['key_revoked', { revoked: true }],
  ['key_expired', { expiresOn: '2026-11-19' }],
  ['ip_not_allowed', { ipAllowlist: ['192.0.2.7'] }],
  ['org_suspended', { organizationSuspended: true }],
  ['missing_scope', { scopes: ['usage:read'] }],
];

it('a good key passes', () => {
  expect(codeOf({})).toBeUndefined();
  expect(codeOf({ ipAllowlist: ['192.0.2.1'] })).toBeUndefined();
});

it.each(faults)('%s', (code, grant) => {
  expect(codeOf(grant)).toBe(code);
});

it('of several faults the earlier check answers', () => {
  for (let mended = 0; mended < faults.length; mended += 1) {
    const grant = Object.assign({}, ...faults.slice(mended).map(([, fault]) => fault));
    expect(codeOf(grant)).toBe(faults[mended]?.[0]);
  }
});

it('a key works through its last day in UTC, and not a millisecond longer', () => {
  const at = (time: string): Partial<KeyUse> => ({ now: Date.parse(time) as UnixMs });
  const grant = { expiresOn: '2026-11-20' };
  expect(codeOf(grant, at('2026-11-20T23:59:59.999Z'))).toBeUndefined();
  expect(codeOf(grant, at('2026-11-21T00:00:00.000Z'))).toBe('key_expired');
});

it('an unknown address is on no allowlist', () => {
  expect(codeOf({ ipAllowlist: ['192.0.2.1'] }, { address: '' })).toBe('ip_not_allowed');
  expect(codeOf({}, { address: '' })).toBeUndefined();
});

it('an endpoint without a scope takes any valid key', () => {
  expect(codeOf({ scopes: [] }, { scope: undefined })).toBeUndefined();
});

it('the message names the scope that is needed', () => {
  const refusal = checkKeyGrant({ ...goodGrant, scopes: [] }, { ...goodUse, scope: 'usage:read' });
  if (!refusal) throw new Error('not refused');
  const error = refusalError(refusal);
  expect(error.message).toContain("'usage:read'");
  expect(error.metadata).toEqual({ required_scope: 'usage:read' });
});
