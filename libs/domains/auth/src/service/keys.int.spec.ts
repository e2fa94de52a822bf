import { createHash } from 'node:crypto';
import { Scope } from '@gateway/contracts/auth';
import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { endpoints, type DashboardError } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import {
  codeOf,
  createAuthFixture,
  keyBody,
  type AuthFixture,
  type InputOf,
} from '../testing/auth-under-test';

const sha256 = (secret: string) => createHash('sha256').update(secret).digest();

describe('keys', () => {
  let fixture: AuthFixture;
  const clock = createTestClock();

  beforeAll(async () => {
    fixture = await createAuthFixture({ clock });
  });
  afterAll(() => fixture.stop());

  const refusalOf = (organizationId: string, body: ReturnType<typeof keyBody>) =>
    fixture.createKey(organizationId, body).then(
      () => undefined,
      ({ code, param, message }: DashboardError) => ({ code, param, message }),
    );

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

    /** The new secret, or why the rotation was refused. */
    const rotate = (
      { organizationId, keyId }: { organizationId: string; keyId: string },
      worksForMs: number | undefined,
      endsNow?: InputOf<typeof endpoints.keys.rotate>['ends_now'],
    ) =>
      fixture.endpoints
        .call(endpoints.keys.rotate, {
          params: { organization_id: organizationId, key_id: keyId },
          body: {
            previous_works_until:
              worksForMs === undefined ? null : new Date(clock.now() + worksForMs).toISOString(),
            ...(endsNow && { ends_now: endsNow }),
          },
        })
        .then(
          ({ secret }) => secret,
          ({ code, param }: DashboardError) => ({ code, param }),
        );
    const endPrevious = ({ organizationId, keyId }: { organizationId: string; keyId: string }) =>
      fixture.endpoints.call(endpoints.keys.endPreviousSecret, {
        params: { organization_id: organizationId, key_id: keyId },
        body: {},
      });

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
      const key = await fixture.findKey(target.organizationId, target.keyId);
      expect(key).toMatchObject({ last4: newer.slice(-4), version: 2, previous_secret: null });
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
      await endPrevious(target);
      expect(await invalidated()).toEqual([hash(newer), hash(secret)]);
      expect(await grantOf(secret)).toBeUndefined();
      await endPrevious(target);
    });

    it('must name the secret that ends while there are two', async () => {
      const { target, secret } = await rotatable();
      const lost = await rotate(target, HOUR);
      expect(await rotate(target, HOUR)).toMatchObject({ code: 'conflict' });
      const second = await rotate(target, HOUR, 'current');
      expect([await grantOf(secret), await grantOf(lost), await grantOf(second)]).toEqual([
        expect.objectContaining({ keyId: target.keyId }),
        undefined,
        expect.objectContaining({ keyId: target.keyId }),
      ]);
      const third = await rotate(target, HOUR, 'previous');
      expect([await grantOf(secret), await grantOf(second), await grantOf(third)]).toEqual([
        undefined,
        expect.objectContaining({ secretEndsUnixMs: BigInt(clock.now() + HOUR) }),
        expect.objectContaining({ secretEndsUnixMs: undefined }),
      ]);
    });

    it('leaves no secret that outlives the key: revocation ends both', async () => {
      const { target, secret } = await rotatable();
      const newer = await rotate(target, HOUR);
      await fixture.revokeKey(target.organizationId, target.keyId);
      expect(await grantOf(secret)).toMatchObject({ revoked: true });
      expect(await grantOf(newer)).toMatchObject({ revoked: true });
      expect(await rotate(target, HOUR)).toMatchObject({ code: 'conflict' });
    });

    it('does not extend an old secret beyond 90 days', async () => {
      const { target } = await rotatable();
      expect(await rotate(target, 91 * 24 * HOUR)).toMatchObject({ param: 'previous_works_until' });
    });
  });

  it('returns a grant with everything the edge needs to authorize requests', async () => {
    const organization = await fixture.organization();
    const body = keyBody(
      { requestsPerMinute: 600, dailyBudgetNanoUsd: 5_000_000_000n },
      {
        allowed_models: ['acme/one', 'acme/one', 'acme/two'],
        ip_allowlist: ['::ffff:192.0.2.7', '2001:DB8:0:0::1/64', '10.1.2.3/8'],
        json_streaming: true,
        expires_on: '2026-11-20',
      },
    );
    const { key, secret } = await fixture.createKey(organization.id, body);
    const response = await fixture.auth.verifyKey({ keySha256: sha256(secret) });
    expect(response.outcome).toEqual({
      $case: 'grant',
      value: {
        keyId: key.id,
        organizationId: organization.id,
        revoked: false,
        expiresOn: '2026-11-20',
        scopes: [Scope.SCOPE_CHAT, Scope.SCOPE_USAGE_READ],
        allowedModels: ['acme/one', 'acme/two'],
        ipAllowlist: ['192.0.2.7', '2001:db8::/64', '10.0.0.0/8'],
        jsonStreaming: true,
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
        usageTags: [],
        budgets: [
          {
            scope: BudgetScope.BUDGET_SCOPE_KEY,
            ownerId: key.id,
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
    expect(await refusalOf(id, keyBody({ requestsPerMinute: 601 }))).toEqual({
      code: 'invalid',
      param: 'requests_per_minute',
      message: "requests_per_minute must be at or below the organization's, which is 600.",
    });
    await fixture.setLimits(id, { dailyBudgetNanoUsd: 12_500_000_000n });
    const richer = keyBody({ dailyBudgetNanoUsd: 12_500_000_001n });
    expect(await refusalOf(id, richer)).toMatchObject({
      param: 'daily_budget_usd',
      message: "The daily budget must be at or below the organization's, which is 12.5 US dollars.",
    });
    const unlimitedThere = keyBody({ requestsPerMinute: 1_000_000 });
    expect(await refusalOf(id, unlimitedThere)).toMatchObject({ param: 'requests_per_minute' });
    await fixture.setCeilings(id, {});
    expect(await refusalOf(id, unlimitedThere)).toBeUndefined();
  });

  it.each([
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 'nul\u0000' }],
    ['scopes', { scopes: [] }],
    ['allowed_models[1]', { allowed_models: ['fine', ''] }],
    ['ip_allowlist[0]', { ip_allowlist: ['192.0.2.1/33'] }],
    ['ip_allowlist[1]', { ip_allowlist: ['192.0.2.1', '0300.0.2.1'] }],
    ['ip_allowlist[0]', { ip_allowlist: ['fe80::1%eth0'] }],
    ['expires_on', { expires_on: '2026-02-30' }],
    ['expires_on', { expires_on: '0001-01-01' }],
  ])('refuses an invalid %s as a value: %j', async (field, change) => {
    const { id } = await fixture.organization();
    const refusal = await refusalOf(id, keyBody({}, change));
    expect(refusal).toMatchObject({ code: 'invalid', param: field });
  });

  it('replaces settings, and accepts an expiry day in the past: the key is expired', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    const change = (body: InputOf<typeof endpoints.keys.update>) =>
      fixture.updateKey(organizationId, key.id, body);
    const renamed = { name: 'renamed', expires_on: '2026-11-20' };
    expect((await change(renamed)).key).toMatchObject({ ...renamed, state: 'active' });
    expect((await change({ expires_on: '2026-11-19' })).key).toMatchObject({
      ...{ name: 'renamed', expires_on: '2026-11-19', state: 'expired' },
    });
  });

  it('changes only the fields that are named; null removes a restriction', async () => {
    const { id: organizationId } = await fixture.organization();
    const restricted = { allowed_models: ['acme/m'], ip_allowlist: ['192.0.2.1'] };
    const body = keyBody({ requestsPerMinute: 5, concurrency: 2 }, restricted);
    const { key } = await fixture.createKey(organizationId, body);
    const change = { name: 'new', requests_per_minute: null, allowed_models: null };
    expect((await fixture.updateKey(organizationId, key.id, change)).key).toEqual({
      ...{ ...key, ...change, version: 2 },
    });
  });

  it('allows JSON in streams only where that is set, and keeps it through other changes', async () => {
    const { id: organizationId } = await fixture.organization();
    const grantOf = async (secret: string) =>
      (await fixture.auth.verifyKey({ keySha256: sha256(secret) })).outcome?.value;
    const { key, secret } = await fixture.createKey(organizationId, keyBody());
    expect(key.json_streaming).toBe(false);
    expect(await grantOf(secret)).toMatchObject({ jsonStreaming: false });
    const change = (body: InputOf<typeof endpoints.keys.update>) =>
      fixture.updateKey(organizationId, key.id, body);
    expect((await change({ json_streaming: true })).key).toEqual({
      ...key,
      json_streaming: true,
      version: 2,
    });
    await change({ name: 'renamed' });
    expect(await grantOf(secret)).toMatchObject({ jsonStreaming: true });
    expect((await change({ json_streaming: false })).key.json_streaming).toBe(false);
    expect(await grantOf(secret)).toMatchObject({ jsonStreaming: false });
  });

  it('returns the current key to the second of two editors, and merges changes without a version', async () => {
    const { id: organizationId } = await fixture.organization();
    const { id } = await fixture.key(organizationId);
    await fixture.updateKey(organizationId, id, { name: 'first', version: 1 });
    const late = fixture.updateKey(organizationId, id, { name: 'second', version: 1 });
    await expect(late).rejects.toMatchObject({
      code: 'version_conflict',
      metadata: { current: { name: 'first', version: 2 } },
    });
    const changes = [{ name: 'merged' }, { requests_per_minute: 5 }, { concurrency: 3 }];
    await Promise.all(changes.map((change) => fixture.updateKey(organizationId, id, change)));
    expect(await fixture.findKey(organizationId, id)).toMatchObject({
      ...{ name: 'merged', requests_per_minute: 5, concurrency: 3, version: 5 },
    });
  });

  it('revokes permanently: revoking again returns the same key, changing it is a conflict', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    const revoked = await fixture.revokeKey(organizationId, key.id);
    expect(revoked.key).toMatchObject({ revoked_at: new Date(clock.now()).toISOString(), state: 'revoked' });
    expect(await fixture.revokeKey(organizationId, key.id)).toEqual(revoked);
    expect(await codeOf(fixture.updateKey(organizationId, key.id, keyBody()))).toBe('conflict');
    const grant = await fixture.auth.verifyKey({ keySha256: sha256(key.secret) });
    expect(grant.outcome).toMatchObject({ $case: 'grant', value: { revoked: true } });
  });

  it('isolates organizations: a key is found only in its own', async () => {
    const owner = await fixture.organization();
    const stranger = await fixture.organization();
    const key = await fixture.key(owner.id);
    expect(await codeOf(fixture.findKey(stranger.id, key.id))).toBe('not_found');
    expect(await codeOf(fixture.revokeKey(stranger.id, key.id))).toBe('not_found');
    expect(await codeOf(fixture.updateKey(stranger.id, key.id, keyBody()))).toBe('not_found');
    expect((await fixture.listKeys(stranger.id)).data).toEqual([]);
  });

  it('returns "not found" for ids that the database cannot store', async () => {
    for (const odd of ['', '\u0000', 'é', "'; drop table api_keys", 'x'.repeat(10_000)]) {
      expect(await codeOf(fixture.findKey(odd, odd))).toBe('not_found');
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
      const page = await fixture.listKeys(organizationId, { page_size: '2', page_token: pageToken });
      seen.push(...page.data.map(({ id }) => id));
      pageToken = page.next_page_token ?? '';
      clock.advance(1);
      await fixture.key(organizationId);
    } while (pageToken !== '');
    expect(seen.filter((id) => created.has(id))).toHaveLength(5);
    expect(new Set(seen).size).toBe(seen.length);
    const withoutToken = fixture.listKeys(organizationId, { page_token: 'no token' });
    await expect(withoutToken).rejects.toMatchObject({ code: 'invalid_request', param: 'page_token' });
  });
});
