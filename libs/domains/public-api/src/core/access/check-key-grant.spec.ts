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

/** In the order of checks. */
const issues: readonly [string, Partial<KeyGrantView>][] = [
  ['key_revoked', { revoked: true }],
  ['key_expired', { expiresOn: '2026-11-19' }],
  ['ip_not_allowed', { ipAllowlist: ['192.0.2.7'] }],
  ['org_suspended', { organizationSuspended: true }],
  ['missing_scope', { scopes: ['usage:read'] }],
];

it('accepts a valid key', () => {
  expect(codeOf({})).toBeUndefined();
  expect(codeOf({ ipAllowlist: ['192.0.2.1'] })).toBeUndefined();
});

it.each(issues)('%s', (code, grant) => {
  expect(codeOf(grant)).toBe(code);
});

it('returns the first of several issues', () => {
  for (let fixed = 0; fixed < issues.length; fixed += 1) {
    const grant = Object.assign({}, ...issues.slice(fixed).map(([, issue]) => issue));
    expect(codeOf(grant)).toBe(issues[fixed]?.[0]);
  }
});

it('accepts a key until the last millisecond of its last day in UTC', () => {
  const at = (time: string): Partial<KeyUse> => ({ now: Date.parse(time) as UnixMs });
  const grant = { expiresOn: '2026-11-20' };
  expect(codeOf(grant, at('2026-11-20T23:59:59.999Z'))).toBeUndefined();
  expect(codeOf(grant, at('2026-11-21T00:00:00.000Z'))).toBe('key_expired');
});

it('treats an unknown address as on no allowlist', () => {
  expect(codeOf({ ipAllowlist: ['192.0.2.1'] }, { address: '' })).toBe('ip_not_allowed');
  expect(codeOf({}, { address: '' })).toBeUndefined();
});

it('accepts any valid key for an endpoint without a scope', () => {
  expect(codeOf({ scopes: [] }, { scope: undefined })).toBeUndefined();
});

it('names the required scope', () => {
  const refusal = checkKeyGrant({ ...goodGrant, scopes: [] }, { ...goodUse, scope: 'usage:read' });
  if (!refusal) throw new Error('not refused');
  const error = refusalError(refusal);
  expect(error.message).toContain("'usage:read'");
  expect(error.metadata).toEqual({ required_scope: 'usage:read' });
});
