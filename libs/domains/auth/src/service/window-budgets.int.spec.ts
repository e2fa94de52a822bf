import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { endpoints } from '@gateway/dashboard-contract';
import { createHash } from 'node:crypto';
import { createAuthFixture, keyBody, type AuthFixture } from '../testing/auth-under-test';

const { organizations, projects, keys } = endpoints;

const windowOf = (hours: number, amount_usd: string) => ({ period: 'window' as const, hours, amount_usd });

describe('budgets of rolling windows', () => {
  let fixture: AuthFixture;
  let organizationId: string;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  afterAll(() => fixture.stop());
  beforeEach(async () => {
    ({ id: organizationId } = await fixture.organization());
  });

  type Budgets = ReturnType<typeof windowOf>[] | null;
  const inOrganization = () => ({ organization_id: organizationId });
  const ofOrganization = (budgets: Budgets) =>
    fixture.endpoints.call(organizations.setLimits, { params: inOrganization(), body: { budgets } });
  async function latestDetails() {
    const { entries } = await fixture.auditLog.listAudit({ organizationId, pageSize: 1, pageToken: '' });
    return JSON.parse(entries[0]?.detailsJson ?? '') as unknown;
  }

  it('of the key, its project and the organization reach edges with the grant', async () => {
    await ofOrganization([windowOf(24, '5'), windowOf(1, '0.5')]);
    const { project } = await fixture.endpoints.call(projects.create, {
      params: inOrganization(),
      body: { name: 'Website', budgets: [windowOf(5, '2')] },
    });
    const { key, secret } = await fixture.createKey(
      organizationId,
      keyBody({}, { project_id: project.id, budgets: [windowOf(744, '0.000000001')] }),
    );
    expect(project.budgets).toEqual([windowOf(5, '2')]);
    expect(key.budgets).toEqual([windowOf(744, '0.000000001')]);
    const keySha256 = createHash('sha256').update(secret).digest();
    const { outcome } = await fixture.auth.verifyKey({ keySha256 });
    const period = BudgetPeriod.BUDGET_PERIOD_WINDOW;
    const budget = (scope: BudgetScope, ownerId: string, hours: number, amountNanoUsd: bigint) => ({
      ...{ scope, ownerId, period, hours, amountNanoUsd },
    });
    expect(
      outcome?.$case === 'grant' && outcome.value.budgets.filter((each) => each.period === period),
    ).toEqual([
      budget(BudgetScope.BUDGET_SCOPE_KEY, key.id, 744, 1n),
      budget(BudgetScope.BUDGET_SCOPE_PROJECT, project.id, 5, 2_000_000_000n),
      budget(BudgetScope.BUDGET_SCOPE_ORGANIZATION, '', 24, 5_000_000_000n),
      budget(BudgetScope.BUDGET_SCOPE_ORGANIZATION, '', 1, 500_000_000n),
    ]);
  });

  it('stay without the field, end with null or an empty list, and are in the audit log', async () => {
    await ofOrganization([windowOf(24, '5')]);
    expect(await latestDetails()).toEqual({
      changed: { window_budgets: { before: null, after: [{ hours: 24, amount_nano_usd: '5000000000' }] } },
    });
    const { organization } = await fixture.endpoints.call(organizations.setLimits, {
      params: inOrganization(),
      body: { concurrency: 3 },
    });
    expect(organization.limits).toMatchObject({ budgets: [windowOf(24, '5')], concurrency: 3 });
    for (const none of [null, []]) {
      await ofOrganization([windowOf(24, '5')]);
      expect((await ofOrganization(none)).organization.limits.budgets).toEqual([]);
    }
    const { key } = await fixture.createKey(organizationId, keyBody({}, { budgets: [windowOf(2, '1')] }));
    const { key: changed } = await fixture.endpoints.call(keys.update, {
      params: { ...inOrganization(), key_id: key.id },
      body: { budgets: null },
    });
    expect(changed.budgets).toEqual([]);
  });

  it.each([
    ['two of one length', [windowOf(24, '5'), windowOf(24, '6')]],
    ['no hours', [windowOf(0, '5')]],
    ['more hours than the longest month', [windowOf(745, '5')]],
    ['more than five', [1, 2, 3, 4, 5, 6].map((hours) => windowOf(hours, '1'))],
    ['an amount of zero', [windowOf(24, '0')]],
    ['an amount above the limit', [windowOf(24, '1000000001')]],
  ])('are refused with %s', async (_what, budgets) => {
    await expect(ofOrganization(budgets)).rejects.toMatchObject({
      code: 'invalid',
      param: expect.stringMatching(/^budgets/),
    });
  });
});
