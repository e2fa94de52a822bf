import { createHash } from 'node:crypto';
import { endpoints } from '@gateway/dashboard-contract';
import { createAuthFixture, limitsBody, type AuthFixture } from '../testing/auth-under-test';

const { organizations } = endpoints;
const NO_RULES = {
  allowed_providers: [] as string[],
  denied_providers: [] as string[],
  allowed_regions: [] as string[],
  denied_regions: [] as string[],
};

describe('organizations and the audit log', () => {
  let fixture: AuthFixture;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  afterAll(() => fixture.stop());

  const inOrganization = (id: string) => ({ params: { organization_id: id } });
  const setTargetRules = (id: string, rules: Partial<typeof NO_RULES>) =>
    fixture.endpoints.call(organizations.setTargetRules, {
      ...inOrganization(id),
      body: { ...NO_RULES, ...rules },
    });

  async function auditOf(organizationId: string) {
    const { entries } = await fixture.auditLog.listAudit({ organizationId, pageSize: 0, pageToken: '' });
    return entries.map(({ action, actor, detailsJson }) => ({
      action,
      actor,
      details: JSON.parse(detailsJson) as unknown,
    }));
  }

  it('are created once by their name for the demo, without ceilings', async () => {
    const ensure = async (name: string) => (await fixture.admin.ensureOrganization({ name })).organizationId;
    await fixture.organization('Demo of others');
    const id = await ensure('Demo');
    expect(await ensure('Demo')).toBe(id);
    const { organization } = await fixture.endpoints.call(organizations.get, inOrganization(id));
    expect(organization).toMatchObject({ name: 'Demo', ceilings: limitsBody({}) });
    await expect(fixture.adminAs({ id: 'mem-none' }).ensureOrganization({ name: 'X' })).rejects.toMatchObject(
      {
        code: 'invalid_request',
      },
    );
  });

  it('sets limits; null removes one', async () => {
    const { id: organizationId } = await fixture.organization();
    const limits = { requestsPerMinute: 10, dailyBudgetNanoUsd: 7n };
    await fixture.setLimits(organizationId, limits);
    const read = await fixture.endpoints.call(organizations.get, inOrganization(organizationId));
    expect(read.organization.limits).toEqual({ ...limitsBody(limits), budgets: [] });
  });

  it('replaces the lists of providers and regions, in lower case, and sends them with each key', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    const grantRules = async () => {
      const keySha256 = createHash('sha256').update(key.secret).digest();
      const { outcome } = await fixture.auth.verifyKey({ keySha256 });
      return outcome?.$case === 'grant' ? outcome.value.targetRules : outcome;
    };
    expect(await grantRules()).toBeUndefined();
    const rules = { allowed_providers: ['Acme', ' acme '], allowed_regions: ['us', 'EU'] };
    const stored = { allowedProviders: ['acme'], deniedProviders: [], allowedRegions: ['eu', 'us'] };
    const { organization: changed } = await setTargetRules(organizationId, rules);
    expect(changed.target_rules).toEqual({
      ...NO_RULES,
      ...{ allowed_providers: ['acme'], allowed_regions: ['eu', 'us'] },
    });
    expect(await grantRules()).toEqual({ ...stored, deniedRegions: [] });
    expect(await auditOf(organizationId)).toMatchObject([
      {
        action: 'organization.set_target_rules',
        details: {
          changed: {
            allowed_providers: { before: [], after: ['acme'] },
            allowed_regions: { before: [], after: ['eu', 'us'] },
          },
        },
      },
      { action: 'key.create' },
      { action: 'organization.create' },
    ]);
  });

  it.each([
    ['an empty name', { denied_regions: [' '] }, 'denied_regions[0]'],
    ['a name with a space', { allowed_providers: ['acme', 'a b'] }, 'allowed_providers[1]'],
    ['too many names', { allowed_regions: Array.from({ length: 51 }, (_, n) => `r${n}`) }, 'allowed_regions'],
  ])('refuses %s', async (_, changes, field) => {
    const { id: organizationId } = await fixture.organization();
    await expect(setTargetRules(organizationId, changes)).rejects.toMatchObject({
      ...{ code: 'invalid', param: field },
    });
  });

  it('turns elastic holds on for the keys of the organization, with an audit entry', async () => {
    const { id: organizationId } = await fixture.organization();
    const { secret } = await fixture.key(organizationId);
    const keySha256 = createHash('sha256').update(secret).digest();
    const isElastic = async () => {
      const { outcome } = await fixture.auth.verifyKey({ keySha256 });
      return outcome?.$case === 'grant' && outcome.value.elasticHolds;
    };
    expect(await isElastic()).toBe(false);
    const { organization: changed } = await fixture.endpoints.call(organizations.setElasticHolds, {
      ...inOrganization(organizationId),
      body: { enabled: true },
    });
    expect(changed.elastic_holds).toBe(true);
    expect(await isElastic()).toBe(true);
    expect((await auditOf(organizationId))[0]).toMatchObject({
      action: 'organization.set_elastic_holds',
      details: { changed: { elastic_holds: { before: false, after: true } } },
    });
  });

  it('sends the usage tags with each key, sorted and once each, with an audit entry', async () => {
    const { id: organizationId } = await fixture.organization();
    const { secret } = await fixture.key(organizationId);
    const keySha256 = createHash('sha256').update(secret).digest();
    const grantedTags = async () => {
      const { outcome } = await fixture.auth.verifyKey({ keySha256 });
      return outcome?.$case === 'grant' ? outcome.value.usageTags : outcome;
    };
    expect(await grantedTags()).toEqual([]);
    const { organization: changed } = await fixture.endpoints.call(organizations.setUsageTags, {
      ...inOrganization(organizationId),
      body: { usage_tags: ['team', ' Customer.id ', 'team'] },
    });
    expect(changed.usage_tags).toEqual(['Customer.id', 'team']);
    expect(await grantedTags()).toEqual(['Customer.id', 'team']);
    expect((await auditOf(organizationId))[0]).toMatchObject({
      action: 'organization.set_usage_tags',
      details: { changed: { usage_tags: { before: [], after: ['Customer.id', 'team'] } } },
    });
  });

  it.each([
    ['a sixth name', ['a', 'b', 'c', 'd', 'e', 'f'], 'usage_tags'],
    ['an empty name', ['a', ' '], 'usage_tags[1]'],
    ['a name with a comma', ['a,b'], 'usage_tags[0]'],
    ['a name of 65 characters', ['a'.repeat(65)], 'usage_tags[0]'],
  ])('refuses %s among the usage tags', async (_, usage_tags, param) => {
    const { id: organizationId } = await fixture.organization();
    const change = { ...inOrganization(organizationId), body: { usage_tags } };
    await expect(fixture.endpoints.call(organizations.setUsageTags, change)).rejects.toMatchObject({
      ...{ code: 'invalid', param },
    });
  });

  it('suspends with a reason and resumes without one', async () => {
    const { id: organizationId } = await fixture.organization();
    const { organization: suspended } = await fixture.endpoints.call(organizations.suspend, {
      ...inOrganization(organizationId),
      body: { reason: 'unpaid' },
    });
    expect(suspended).toMatchObject({ suspended: true, suspended_reason: 'unpaid' });
    const { organization: resumed } = await fixture.suspend(organizationId, false);
    expect(resumed).toMatchObject({ suspended: false, suspended_reason: null });
  });

  it('returns the current state to the second of two concurrent editors', async () => {
    const { id, version } = await fixture.organization();
    const of = inOrganization(id);
    const stale = { version: version + 1 };
    const limits = { ...limitsBody({}), ...stale };
    for (const change of [
      () => fixture.endpoints.call(organizations.setLimits, { ...of, body: limits }),
      () => fixture.endpoints.call(organizations.setCeilings, { ...of, body: limits }),
      () => fixture.endpoints.call(organizations.setTargetRules, { ...of, body: { ...NO_RULES, ...stale } }),
    ]) {
      await expect(change()).rejects.toMatchObject({
        code: 'version_conflict',
        message: 'Someone else changed this in the meantime.',
        metadata: { current: { id, name: 'Acme', version } },
      });
    }
  });

  it('writes one entry per change, with its actor and the fields before and after', async () => {
    const { id: organizationId } = await fixture.organization('Before');
    const limits = {
      requestsPerMinute: 5,
      tokensPerMinute: 1_000_000,
      concurrency: 64,
      maxOutputTokens: 32_768,
    };
    await fixture.setLimits(organizationId, limits);
    await fixture.setLimits(organizationId, limits);
    expect(await auditOf(organizationId)).toEqual([
      {
        action: 'organization.set_limits',
        actor: {
          id: fixture.operator.id,
          label: fixture.operator.label,
          ipAddress: '192.0.2.1',
          operator: true,
        },
        details: { changed: { requests_per_minute: { before: 600, after: 5 } } },
      },
      expect.objectContaining({ action: 'organization.create' }),
    ]);
  });

  it('rolls back a change whose audit entry cannot be written', async () => {
    const { id: organizationId } = await fixture.organization();
    const key = await fixture.key(organizationId);
    await fixture.pool.query(`
      create function refuse_audit() returns trigger language plpgsql as $$ begin raise 'no audit'; end $$;
      create trigger refuse_audit before insert on audit_entries for each row execute function refuse_audit()`);
    const internal = { code: 'internal_error' };
    await expect(fixture.revokeKey(organizationId, key.id)).rejects.toMatchObject(internal);
    await expect(fixture.createKey(organizationId)).rejects.toMatchObject(internal);
    await fixture.pool.query('drop trigger refuse_audit on audit_entries');
    const { data } = await fixture.listKeys(organizationId);
    expect(data).toEqual([expect.objectContaining({ id: key.id, revoked_at: null })]);
  });
});
