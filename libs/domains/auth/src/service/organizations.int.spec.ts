import { createHash } from 'node:crypto';
import { NO_TARGET_RULES } from '@gateway/base';
import type { TargetRules } from '@gateway/contracts/common';
import type { OrganizationResponse } from '@gateway/contracts/auth';
import { createAuthFixture, keySettings, type AuthFixture } from '../testing/auth-under-test';

describe('organizations and the audit log', () => {
  let fixture: AuthFixture;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  afterAll(() => fixture.stop());

  function organizationOf({ outcome }: OrganizationResponse) {
    if (outcome?.$case !== 'organization') throw new Error(`refused: ${JSON.stringify(outcome)}`);
    return outcome.value;
  }

  async function auditOf(organizationId: string) {
    const { entries } = await fixture.admin.listAudit({ organizationId, pageSize: 0, pageToken: '' });
    return entries.map(({ action, actor, detailsJson }) => ({
      action,
      actor,
      details: JSON.parse(detailsJson) as unknown,
    }));
  }

  it('replaces all limits; an absent one no longer applies', async () => {
    const { id: organizationId } = await fixture.organization();
    const limits = { requestsPerMinute: 10, dailyBudgetNanoUsd: 7n, multipleCompletions: false };
    organizationOf(await fixture.admin.setOrganizationLimits({ organizationId, limits }));
    const read = organizationOf(await fixture.admin.getOrganization({ organizationId }));
    expect(read.limits).toEqual({
      requestsPerMinute: 10,
      tokensPerMinute: undefined,
      dailyBudgetNanoUsd: 7n,
      concurrency: undefined,
      maxOutputTokens: undefined,
      multipleCompletions: false,
    });
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
    const rules = { allowedProviders: ['Acme', ' acme '], deniedProviders: [], allowedRegions: ['us', 'EU'] };
    const stored = { allowedProviders: ['acme'], deniedProviders: [], allowedRegions: ['eu', 'us'] };
    const change = { organizationId, targetRules: { ...rules, deniedRegions: [] } };
    const changed = organizationOf(await fixture.admin.setTargetRules(change));
    expect(changed.targetRules).toEqual({ ...stored, deniedRegions: [] });
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
    ['an empty name', { deniedRegions: [' '] }, 'denied_regions[0]'],
    ['a name with a space', { allowedProviders: ['acme', 'a b'] }, 'allowed_providers[1]'],
    ['too many names', { allowedRegions: Array.from({ length: 51 }, (_, n) => `r${n}`) }, 'allowed_regions'],
  ])('refuses %s', async (_, changes, field) => {
    const { id: organizationId } = await fixture.organization();
    const targetRules = { ...NO_TARGET_RULES, ...changes } as TargetRules;
    const { outcome } = await fixture.admin.setTargetRules({ organizationId, targetRules });
    expect(outcome).toMatchObject({ $case: 'refusal', value: { field } });
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
    const changed = organizationOf(await fixture.admin.setElasticHolds({ organizationId, enabled: true }));
    expect(changed.elasticHolds).toBe(true);
    expect(await isElastic()).toBe(true);
    expect((await auditOf(organizationId))[0]).toMatchObject({
      action: 'organization.set_elastic_holds',
      details: { changed: { elastic_holds: { before: false, after: true } } },
    });
  });

  it('suspends with a reason and resumes without one', async () => {
    const { id: organizationId } = await fixture.organization();
    const change = { organizationId };
    const suspended = organizationOf(
      await fixture.admin.setOrganizationSuspended({ ...change, suspended: true, reason: 'unpaid' }),
    );
    expect(suspended).toMatchObject({ suspended: true, suspendedReason: 'unpaid' });
    const resumed = organizationOf(
      await fixture.admin.setOrganizationSuspended({ ...change, suspended: false, reason: undefined }),
    );
    expect(resumed).toMatchObject({ suspended: false, suspendedReason: undefined });
  });

  it('writes one entry per change, with its actor and the fields before and after', async () => {
    const { id: organizationId } = await fixture.organization('Before');
    const limits = {
      requestsPerMinute: 5,
      tokensPerMinute: 1_000_000,
      concurrency: 64,
      maxOutputTokens: 32_768,
    };
    const change = { organizationId, limits: { ...limits, multipleCompletions: false } };
    await fixture.admin.setOrganizationLimits(change);
    await fixture.admin.setOrganizationLimits(change);
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
    const target = { organizationId, keyId: key.id };
    await expect(fixture.admin.revokeKey(target)).rejects.toMatchObject({ code: 'internal_error' });
    await expect(fixture.admin.createKey({ organizationId, settings: keySettings() })).rejects.toMatchObject({
      code: 'internal_error',
    });
    await fixture.pool.query('drop trigger refuse_audit on audit_entries');
    const { keys } = await fixture.admin.listKeys({ organizationId, pageSize: 0, pageToken: '' });
    expect(keys).toEqual([expect.objectContaining({ id: key.id, revokedUnixMs: undefined })]);
  });
});
