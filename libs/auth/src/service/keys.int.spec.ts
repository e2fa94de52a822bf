import { createHash } from 'node:crypto';
import { AdminRefusalReason, type KeyResponse } from '@gateway/contracts/auth';
import { createTestClock } from '@gateway/testing';
import { ACTOR, createAuthFixture, keySettings, type AuthFixture } from '../testing/auth-under-test';

const sha256 = (secret: string) => createHash('sha256').update(secret).digest();

describe('keys', () => {
  let fixture: AuthFixture;
  const clock = createTestClock();

  beforeAll(async () => {
    fixture = await createAuthFixture({ clock });
  });
  afterAll(() => fixture.stop());

  async function refusalOf(organizationId: string, settings: ReturnType<typeof keySettings>) {
    const { outcome } = await fixture.admin.createKey({ actor: ACTOR, organizationId, settings });
    if (outcome?.$case !== 'refusal') throw new Error('the key was not refused');
    return outcome.value;
  }

  function keyOf({ outcome }: KeyResponse) {
    if (outcome?.$case !== 'key') throw new Error(`refused: ${JSON.stringify(outcome)}`);
    return outcome.value;
  }

  it('shows the full key once and stores only its hash and last four characters', async () => {
    const { id } = await fixture.organization();
    const key = await fixture.key(id);
    expect(key.secret).toMatch(/^sk-gw-[A-Za-z0-9_-]{43}$/);
    expect(key.last4).toBe(key.secret.slice(-4));

    const { rows } = await fixture.pool.query<{ dump: string }>(`
      select (select coalesce(string_agg(k::text, ' '), '') from api_keys k)
          || (select coalesce(string_agg(a::text, ' '), '') from audit_entries a) as dump`);
    expect(rows[0]?.dump).toContain(sha256(key.secret).toString('hex'));
    expect(rows[0]?.dump).not.toContain(key.secret.slice('sk-gw-'.length));
  });

  it('answers a grant with everything the edge judges by', async () => {
    const organization = await fixture.organization();
    const settings = {
      ...keySettings(),
      allowedModels: ['acme/one', 'acme/one', 'acme/two'],
      ipAllowlist: ['::ffff:192.0.2.7', '2001:DB8:0:0::1/64', '10.1.2.3/8'],
      expiresOn: '2026-11-20',
      limits: { requestsPerMinute: 600, dailyBudgetNanoUsd: 5_000_000_000n },
    };
    const { outcome } = await fixture.admin.createKey({
      actor: ACTOR,
      organizationId: organization.id,
      settings,
    });
    if (outcome?.$case !== 'created') throw new Error('refused');
    const answer = await fixture.auth.verifyKey({ keySha256: sha256(outcome.value.secret) });
    expect(answer.outcome).toEqual({
      $case: 'grant',
      value: {
        keyId: outcome.value.key?.id,
        organizationId: organization.id,
        revoked: false,
        expiresOn: '2026-11-20',
        scopes: settings.scopes,
        allowedModels: ['acme/one', 'acme/two'],
        ipAllowlist: ['192.0.2.7', '2001:db8::/64', '10.0.0.0/8'],
        keyLimits: {
          requestsPerMinute: 600,
          tokensPerMinute: undefined,
          dailyBudgetNanoUsd: 5_000_000_000n,
          concurrency: undefined,
        },
        organizationLimits: {
          requestsPerMinute: 600,
          tokensPerMinute: 1_000_000,
          dailyBudgetNanoUsd: undefined,
          concurrency: 64,
          maxOutputTokens: 32_768,
          multipleCompletions: false,
        },
        organizationSuspended: false,
      },
    });
  });

  it('says "unknown" for a hash that belongs to no key', async () => {
    const { outcome } = await fixture.auth.verifyKey({ keySha256: sha256('sk-gw-nobody') });
    expect(outcome?.$case).toBe('unknown');
  });

  it('refuses caps above the organization, and names the limit', async () => {
    const { id } = await fixture.organization();
    const above = { ...keySettings(), limits: { requestsPerMinute: 601 } };
    expect(await refusalOf(id, above)).toEqual({
      reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_INVALID,
      field: 'requests_per_minute',
      message: "requests_per_minute must be at or below the organization's, which is 600.",
    });
    await fixture.admin.setOrganizationLimits({
      actor: ACTOR,
      organizationId: id,
      limits: { dailyBudgetNanoUsd: 12_500_000_000n, multipleCompletions: false },
    });
    const richer = { ...keySettings(), limits: { dailyBudgetNanoUsd: 12_500_000_001n } };
    expect(await refusalOf(id, richer)).toMatchObject({
      field: 'daily_budget_nano_usd',
      message: "The daily budget must be at or below the organization's, which is 12.5 US dollars.",
    });
    const unlimitedThere = { ...keySettings(), limits: { requestsPerMinute: 1_000_000 } };
    const { outcome } = await fixture.admin.createKey({
      actor: ACTOR,
      organizationId: id,
      settings: unlimitedThere,
    });
    expect(outcome?.$case).toBe('created');
  });

  it.each([
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 'nul\u0000' }],
    ['scopes', { scopes: [] }],
    ['allowed_models[1]', { allowedModels: ['fine', ''] }],
    ['ip_allowlist[0]', { ipAllowlist: ['192.0.2.1/33'] }],
    ['ip_allowlist[1]', { ipAllowlist: ['192.0.2.1', '0300.0.2.1'] }],
    ['ip_allowlist[0]', { ipAllowlist: ['fe80::1%eth0'] }],
    ['expires_on', { expiresOn: '2026-02-30' }],
    ['requests_per_minute', { limits: { requestsPerMinute: 0 } }],
    ['concurrency', { limits: { concurrency: 4_294_967_295 } }],
    ['daily_budget_nano_usd', { limits: { dailyBudgetNanoUsd: 0n } }],
    ['daily_budget_nano_usd', { limits: { dailyBudgetNanoUsd: -1n } }],
  ])('refuses a faulty %s as a value: %j', async (field, fault) => {
    const { id } = await fixture.organization();
    const refusal = await refusalOf(id, { ...keySettings(), ...fault });
    expect(refusal).toMatchObject({ reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_INVALID, field });
  });

  it('replaces settings, and takes an expiry day that has passed: the key is expired', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    const target = { actor: ACTOR, organizationId, keyId: key.id };
    const settings = { ...keySettings(), name: 'renamed', expiresOn: '2026-11-20' };
    expect(keyOf(await fixture.admin.updateKey({ ...target, settings }))).toMatchObject({
      name: 'renamed',
      expiresOn: '2026-11-20',
    });
    const expired = { ...settings, expiresOn: '2026-11-19' };
    expect(keyOf(await fixture.admin.updateKey({ ...target, settings: expired })).expiresOn).toBe(
      '2026-11-19',
    );
  });

  it('revokes for good: again is the same answer, changing is a conflict', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    const target = { actor: ACTOR, organizationId, keyId: key.id };
    const revoked = keyOf(await fixture.admin.revokeKey(target));
    expect(revoked.revokedUnixMs).toBe(BigInt(clock.now()));
    expect(keyOf(await fixture.admin.revokeKey(target))).toEqual(revoked);
    const { outcome } = await fixture.admin.updateKey({ ...target, settings: keySettings() });
    expect(outcome).toMatchObject({
      $case: 'refusal',
      value: { reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFLICT },
    });
    const grant = await fixture.auth.verifyKey({ keySha256: sha256(key.secret) });
    expect(grant.outcome).toMatchObject({ $case: 'grant', value: { revoked: true } });
  });

  it('keeps organizations apart: a key is found only in its own', async () => {
    const owner = await fixture.organization();
    const stranger = await fixture.organization();
    const key = await fixture.key(owner.id);
    const target = { actor: ACTOR, organizationId: stranger.id, keyId: key.id };
    const refusal = {
      $case: 'refusal',
      value: { reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_FOUND },
    };
    expect((await fixture.admin.getKey(target)).outcome).toMatchObject(refusal);
    expect((await fixture.admin.revokeKey(target)).outcome).toMatchObject(refusal);
    expect((await fixture.admin.updateKey({ ...target, settings: keySettings() })).outcome).toMatchObject(
      refusal,
    );
    expect((await fixture.admin.listKeys({ ...target, pageSize: 0, pageToken: '' })).keys).toEqual([]);
  });

  it('answers "not found" to ids that no database could hold', async () => {
    const refusal = {
      $case: 'refusal',
      value: { reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_FOUND },
    };
    for (const odd of ['', '\u0000', 'é', "'; drop table api_keys", 'x'.repeat(10_000)]) {
      expect((await fixture.admin.getKey({ organizationId: odd, keyId: odd })).outcome).toMatchObject(
        refusal,
      );
      expect((await fixture.admin.getOrganization({ organizationId: odd })).outcome).toMatchObject(refusal);
    }
  });

  it('lists every key once over pages, whatever is added meanwhile', async () => {
    const { id: organizationId } = await fixture.organization();
    const made = new Set<string>();
    for (let index = 0; index < 5; index += 1) {
      made.add((await fixture.key(organizationId)).id);
    }
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await fixture.admin.listKeys({ organizationId, pageSize: 2, pageToken });
      seen.push(...page.keys.map(({ id }) => id));
      pageToken = page.nextPageToken;
      clock.advance(1);
      await fixture.key(organizationId);
    } while (pageToken !== '');
    expect(seen.filter((id) => made.has(id))).toHaveLength(5);
    expect(new Set(seen).size).toBe(seen.length);
    await expect(
      fixture.admin.listKeys({ organizationId, pageSize: 2, pageToken: 'no token' }),
    ).rejects.toMatchObject({ code: 'invalid_request', param: 'page_token' });
  });
});
