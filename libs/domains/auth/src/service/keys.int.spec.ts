import { createHash } from 'node:crypto';
import { AdminRefusalReason, SecretToEnd, type KeyResponse } from '@gateway/contracts/auth';
import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { endpoints } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { codeOf, createAuthFixture, keySettings, type AuthFixture } from '../testing/auth-under-test';

const sha256 = (secret: string) => createHash('sha256').update(secret).digest();

describe('keys', () => {
  let fixture: AuthFixture;
  const clock = createTestClock();

  beforeAll(async () => {
    fixture = await createAuthFixture({ clock });
  });
  afterAll(() => fixture.stop());

  async function refusalOf(organizationId: string, settings: ReturnType<typeof keySettings>) {
    const { outcome } = await fixture.admin.createKey({ organizationId, settings });
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

  describe('a rotation', () => {
    const HOUR = 3_600_000;
    const {
      SECRET_TO_END_UNSPECIFIED: UNSAID,
      SECRET_TO_END_CURRENT: CURRENT,
      SECRET_TO_END_PREVIOUS: PREVIOUS,
    } = SecretToEnd;

    async function rotate(
      target: { organizationId: string; keyId: string },
      worksForMs: number | undefined,
      endsNow = UNSAID,
    ) {
      const previousWorksUntilUnixMs =
        worksForMs === undefined ? undefined : BigInt(clock.now() + worksForMs);
      const request = { ...target, previousWorksUntilUnixMs, endsNow };
      const { outcome } = await fixture.admin.rotateKey(request);
      return outcome?.$case === 'created' ? outcome.value.secret : outcome?.value;
    }

    async function grantOf(secret: unknown) {
      const { outcome } = await fixture.auth.verifyKey({ keySha256: sha256(String(secret)) });
      return outcome?.$case === 'grant' ? outcome.value : undefined;
    }

    async function rotatable() {
      const { id: organizationId } = await fixture.organization();
      const { id: keyId, secret } = await fixture.key(organizationId);
      return { target: { organizationId, keyId }, secret };
    }

    it('leaves both secrets valid until the older one expires, to the millisecond', async () => {
      const { target, secret } = await rotatable();
      const newer = await rotate(target, HOUR);
      expect(await grantOf(newer)).toMatchObject({ keyId: target.keyId, secretEndsUnixMs: undefined });
      const ends = clock.now() + HOUR;
      expect(await grantOf(secret)).toMatchObject({ keyId: target.keyId, secretEndsUnixMs: BigInt(ends) });
      clock.set(ends - 1);
      expect(await grantOf(secret)).toBeDefined();
      clock.set(ends);
      expect(await grantOf(secret)).toBeUndefined();
      expect(await grantOf(newer)).toBeDefined();
    });

    it('ends the older secret immediately when no time is given, and stores only hashes', async () => {
      const { target, secret } = await rotatable();
      const newer = String(await rotate(target, undefined));
      expect(await grantOf(secret)).toBeUndefined();
      const key = keyOf(await fixture.admin.getKey(target));
      expect(key).toMatchObject({ last4: newer.slice(-4), version: 2, previousSecret: undefined });
      const { rows } = await fixture.pool.query<{ dump: string }>(`
        select string_agg(k::text, ' ') || (select string_agg(a::text, ' ') from audit_entries a) as dump
        from api_keys k`);
      expect(rows[0]?.dump).not.toContain(newer.slice('sk-gw-'.length));
    });

    it('invalidates every secret that edges may have cached', async () => {
      const { target, secret } = await rotatable();
      const invalidated = async () => {
        const { rows } = await fixture.pool.query<{ sha256: Buffer }>(
          'select key_sha256 as sha256 from invalidations where key_sha256 is not null order by sequence desc limit 2',
        );
        return rows.map((row) => row.sha256.toString('hex'));
      };
      const hash = (text: unknown) => sha256(String(text)).toString('hex');
      const newer = await rotate(target, HOUR);
      expect((await invalidated())[0]).toBe(hash(secret));
      await fixture.admin.endPreviousSecret({ ...target });
      expect(await invalidated()).toEqual([hash(newer), hash(secret)]);
      expect(await grantOf(secret)).toBeUndefined();
      await fixture.admin.endPreviousSecret({ ...target });
    });

    it('must name the secret that ends while there are two', async () => {
      const { target, secret } = await rotatable();
      const lost = await rotate(target, HOUR);
      expect(await rotate(target, HOUR)).toMatchObject({
        reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFLICT,
      });
      const second = await rotate(target, HOUR, CURRENT);
      expect([await grantOf(secret), await grantOf(lost), await grantOf(second)]).toEqual([
        expect.objectContaining({ keyId: target.keyId }),
        undefined,
        expect.objectContaining({ keyId: target.keyId }),
      ]);
      const third = await rotate(target, HOUR, PREVIOUS);
      expect([await grantOf(secret), await grantOf(second), await grantOf(third)]).toEqual([
        undefined,
        expect.objectContaining({ secretEndsUnixMs: BigInt(clock.now() + HOUR) }),
        expect.objectContaining({ secretEndsUnixMs: undefined }),
      ]);
    });

    it('leaves no secret that outlives the key: revocation ends both', async () => {
      const { target, secret } = await rotatable();
      const newer = await rotate(target, HOUR);
      await fixture.admin.revokeKey({ ...target });
      expect(await grantOf(secret)).toMatchObject({ revoked: true });
      expect(await grantOf(newer)).toMatchObject({ revoked: true });
      expect(await rotate(target, HOUR)).toMatchObject({
        reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFLICT,
      });
    });

    it('does not extend an old secret beyond 90 days', async () => {
      const { target } = await rotatable();
      expect(await rotate(target, 91 * 24 * HOUR)).toMatchObject({ field: 'previous_works_until' });
    });
  });

  it('returns a grant with everything the edge needs to authorize requests', async () => {
    const organization = await fixture.organization();
    const settings = {
      ...keySettings(),
      allowedModels: ['acme/one', 'acme/one', 'acme/two'],
      ipAllowlist: ['::ffff:192.0.2.7', '2001:DB8:0:0::1/64', '10.1.2.3/8'],
      expiresOn: '2026-11-20',
      limits: { requestsPerMinute: 600, dailyBudgetNanoUsd: 5_000_000_000n },
    };
    const { outcome } = await fixture.admin.createKey({
      organizationId: organization.id,
      settings,
    });
    if (outcome?.$case !== 'created') throw new Error('refused');
    const response = await fixture.auth.verifyKey({ keySha256: sha256(outcome.value.secret) });
    expect(response.outcome).toEqual({
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
          concurrency: undefined,
        },
        organizationLimits: {
          requestsPerMinute: 600,
          tokensPerMinute: 1_000_000,
          concurrency: 64,
          maxOutputTokens: 32_768,
          multipleCompletions: false,
        },
        organizationSuspended: false,
        elasticHolds: false,
        budgets: [
          {
            scope: BudgetScope.BUDGET_SCOPE_KEY,
            ownerId: outcome.value.key?.id,
            period: BudgetPeriod.BUDGET_PERIOD_DAY,
            amountNanoUsd: 5_000_000_000n,
          },
        ],
      },
    });
  });

  it('returns "unknown" for a hash that belongs to no key', async () => {
    const { outcome } = await fixture.auth.verifyKey({ keySha256: sha256('sk-gw-unknown') });
    expect(outcome?.$case).toBe('unknown');
  });

  it("refuses caps above the organization's, and names the limit", async () => {
    const { id } = await fixture.organization();
    const above = { ...keySettings(), limits: { requestsPerMinute: 601 } };
    expect(await refusalOf(id, above)).toEqual({
      reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_INVALID,
      field: 'requests_per_minute',
      message: "requests_per_minute must be at or below the organization's, which is 600.",
    });
    await fixture.setLimits(id, { dailyBudgetNanoUsd: 12_500_000_000n });
    const richer = { ...keySettings(), limits: { dailyBudgetNanoUsd: 12_500_000_001n } };
    expect(await refusalOf(id, richer)).toMatchObject({
      field: 'daily_budget_usd',
      message: "The daily budget must be at or below the organization's, which is 12.5 US dollars.",
    });
    const unlimitedThere = { ...keySettings(), limits: { requestsPerMinute: 1_000_000 } };
    expect(await refusalOf(id, unlimitedThere)).toMatchObject({ field: 'requests_per_minute' });
    await fixture.setCeilings(id, {});
    const { outcome } = await fixture.admin.createKey({
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
    ['expires_on', { expiresOn: '0001-01-01' }],
    ['requests_per_minute', { limits: { requestsPerMinute: 0 } }],
    ['concurrency', { limits: { concurrency: 4_294_967_295 } }],
    ['daily_budget_usd', { limits: { dailyBudgetNanoUsd: 0n } }],
    ['daily_budget_usd', { limits: { dailyBudgetNanoUsd: -1n } }],
  ])('refuses an invalid %s as a value: %j', async (field, change) => {
    const { id } = await fixture.organization();
    const refusal = await refusalOf(id, { ...keySettings(), ...change });
    expect(refusal).toMatchObject({ reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_INVALID, field });
  });

  it('replaces settings, and accepts an expiry day in the past: the key is expired', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    const target = { organizationId, keyId: key.id };
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

  it('revokes permanently: revoking again returns the same key, changing it is a conflict', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    const target = { organizationId, keyId: key.id };
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

  it('isolates organizations: a key is found only in its own', async () => {
    const owner = await fixture.organization();
    const stranger = await fixture.organization();
    const key = await fixture.key(owner.id);
    const target = { organizationId: stranger.id, keyId: key.id };
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

  it('returns "not found" for ids that the database cannot store', async () => {
    const refusal = {
      $case: 'refusal',
      value: { reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_FOUND },
    };
    for (const odd of ['', '\u0000', 'é', "'; drop table api_keys", 'x'.repeat(10_000)]) {
      expect((await fixture.admin.getKey({ organizationId: odd, keyId: odd })).outcome).toMatchObject(
        refusal,
      );
      const read = fixture.endpoints.call(endpoints.organizations.get, { params: { organization_id: odd } });
      expect(await codeOf(read)).toBe('not_found');
    }
  });

  it('lists every key once over pages, even if keys are created meanwhile', async () => {
    const { id: organizationId } = await fixture.organization();
    const created = new Set<string>();
    for (let index = 0; index < 5; index += 1) {
      created.add((await fixture.key(organizationId)).id);
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
    expect(seen.filter((id) => created.has(id))).toHaveLength(5);
    expect(new Set(seen).size).toBe(seen.length);
    await expect(
      fixture.admin.listKeys({ organizationId, pageSize: 2, pageToken: 'no token' }),
    ).rejects.toMatchObject({ code: 'invalid_request', param: 'page_token' });
  });
});
