import type { Clock, UnixMs } from '@gateway/base';
import { decodeJwt, importJWK, SignJWT } from 'jose';
import {
  createActorSigner,
  createActorVerifier,
  createSigningKeys,
  InvalidAssertion,
  parseSigningKeys,
  publicKeysOf,
  renewSigningKeys,
  signingKeyOf,
  type ActingPerson,
  type CallActor,
  type SigningKeys,
} from './index';

const START = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const ADA: ActingPerson = {
  id: 'mem-ada',
  label: 'ada@example.com',
  ipAddress: '192.0.2.1',
  sessionId: 'ses-1',
  memberRole: 'member',
  organization: { id: 'org-1', role: 'admin' },
};

let now = START;
const clock: Clock = { now: () => now as UnixMs };
let keys: SigningKeys;

beforeEach(async () => {
  now = START;
  keys = await createSigningKeys(START - DAY_MS);
});

const signerOf = (own: SigningKeys) => createActorSigner({ keys: () => own, issuer: 'dashboard-api', clock });
const verifierOf = (audience: string, trusted: readonly SigningKeys[] = [keys]) =>
  createActorVerifier({ keys: () => publicKeysOf(trusted), audience, clock });
const sign = (person: CallActor = ADA, audience = 'billing-ledger') => signerOf(keys).sign(person, audience);

/** Signs other claims with a valid key. */
async function signClaims(change: Record<string, unknown>, header: Record<string, string> = {}) {
  const { exp, iat, ...claims } = decodeJwt(await sign());
  const key = signingKeyOf(keys, now);
  return new SignJWT({ ...claims, iat, exp, ...change })
    .setProtectedHeader({ alg: 'ES256', kid: key.kid, ...header })
    .sign(await importJWK(key, 'ES256'));
}

it('names the person, their session, role and organization to the service it is for', async () => {
  expect(await verifierOf('billing-ledger').verify(await sign())).toEqual(ADA);
  const operator: ActingPerson = { ...ADA, memberRole: 'operator', organization: { id: 'org-2' } };
  expect(await verifierOf('billing-ledger').verify(await sign(operator))).toEqual(operator);
});

it('names a management token as an actor of its own kind', async () => {
  const { sessionId: _none, ...fields } = ADA;
  const token: CallActor = {
    ...fields,
    id: 'mtk-1',
    label: 'deploy (token of ada@example.com)',
    tokenAccess: 'read',
  };
  expect(await verifierOf('billing-ledger').verify(await sign(token))).toEqual(token);
});

describe('is refused', () => {
  const refusal = async (assertion: string, verifier = verifierOf('billing-ledger')) =>
    expect(verifier.verify(assertion)).rejects.toBeInstanceOf(InvalidAssertion);

  it('by another service', async () => refusal(await sign(), verifierOf('auth')));

  it('after its minute and the tolerated clock skew', async () => {
    const assertion = await sign();
    now += 89_000;
    expect(await verifierOf('billing-ledger').verify(assertion)).toEqual(ADA);
    now += 2_000;
    await refusal(assertion);
  });

  it('from a clock that is far ahead', async () => {
    now += 60_000;
    const assertion = await sign();
    now = START;
    await refusal(assertion);
  });

  it('with a lifetime of its signer’s own choice', async () => {
    const assertion = await signClaims({ exp: Math.floor(START / 1_000) + 86_400 });
    now += 95_000;
    await refusal(assertion);
  });

  it('of a signer whose key is unknown', async () => {
    const other = await createSigningKeys(START - DAY_MS);
    await refusal(await signerOf(other).sign(ADA, 'billing-ledger'));
  });

  it('of a signer who claims the id of a known key', async () => {
    const other = await createSigningKeys(START - DAY_MS);
    const disguised = { keys: other.keys.map((key) => ({ ...key, kid: keys.keys[0]?.kid ?? '' })) };
    await refusal(await signerOf(disguised).sign(ADA, 'billing-ledger'));
  });

  it('with a changed claim', async () => {
    const [header, , signature] = (await sign()).split('.');
    const claims = { ...decodeJwt(await sign()), org: 'org-2' };
    await refusal(`${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`);
  });

  it('without a signature', async () => {
    const [, payload] = (await sign()).split('.');
    const header = Buffer.from('{"alg":"none"}').toString('base64url');
    await refusal(`${header}.${payload}.`);
  });

  it.each<[string, Record<string, unknown>]>([
    ['names the gateway itself', { sub: 'system' }],
    ['names no one', { sub: '' }],
    ['is for several services', { aud: ['billing-ledger', 'auth'] }],
    ['has an unknown platform role', { role: 'root' }],
    ['has an unknown role in the organization', { org_role: 'root' }],
    ['has a role without an organization', { org: undefined }],
    ['has no label', { label: undefined }],
    ['has no session', { sid: 7 }],
    ['names neither a person nor a token', { kind: undefined }],
    ['is for a person and has the access of a token', { access: 'read_write' }],
    ['is for a token with a session', { kind: 'token', label: 'deploy', access: 'read' }],
    ['is for a token with unknown access', { kind: 'token', label: 'deploy', access: 'all', sid: undefined }],
    ['is for a token without a name', { kind: 'token', label: undefined, access: 'read', sid: undefined }],
    ['never expires', { exp: undefined }],
    ['has no issue time', { iat: undefined }],
  ])('if it %s', async (_what, change) => refusal(await signClaims(change)));

  it.each(['', 'x', 'a.b.c', 'x'.repeat(100_000)])('if it is no assertion', async (text) => refusal(text));
});

describe('keys', () => {
  it('are replaced when they are due, and the previous key stays valid', async () => {
    const rotationDays = 90;
    expect(await renewSigningKeys(keys, { nowUnixMs: START, rotationDays })).toBeUndefined();
    const renewed = await renewSigningKeys(keys, { nowUnixMs: START + 90 * DAY_MS, rotationDays });
    expect(renewed?.keys).toHaveLength(2);
    const next = await renewSigningKeys(renewed, { nowUnixMs: START + 180 * DAY_MS, rotationDays });
    expect(next?.keys).toHaveLength(2);
    expect(next?.keys.map(({ kid }) => kid)).not.toContain(keys.keys[0]?.kid);
  });

  it('sign once every service has loaded them', async () => {
    const renewed = (await renewSigningKeys(keys, { nowUnixMs: START, rotationDays: 1 })) as SigningKeys;
    const [newest, previous] = renewed.keys;
    expect(signingKeyOf(renewed, START + 59 * 60_000).kid).toBe(previous?.kid);
    expect(signingKeyOf(renewed, START + 60 * 60_000).kid).toBe(newest?.kid);
    const assertion = await signerOf(renewed).sign(ADA, 'auth');
    expect(await verifierOf('auth', [keys]).verify(assertion)).toEqual(ADA);
  });

  it('are published without their private parts', () => {
    expect(JSON.stringify(publicKeysOf([keys]))).not.toContain(keys.keys[0]?.d);
    expect(publicKeysOf([keys]).keys[0]).not.toHaveProperty('d');
  });

  it('that are not valid are reported without their text', () => {
    for (const text of ['', '{', '{"keys":[]}', '{"keys":[{"kid":"secret-part"}]}']) {
      expect(() => parseSigningKeys(text)).toThrow(/keys|incomplete/);
      expect(() => parseSigningKeys(text)).not.toThrow(/secret-part/);
    }
  });
});
