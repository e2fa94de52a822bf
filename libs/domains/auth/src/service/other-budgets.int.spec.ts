import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { endpoints, type BodyOf } from '@gateway/dashboard-contract';
import { createHash } from 'node:crypto';
import { createAuthFixture, keyBody, type AuthFixture } from '../testing/auth-under-test';

const { organizations, projects, keys } = endpoints;

type Budget = NonNullable<BodyOf<typeof organizations.setLimits>['budgets']>[number];
type Wanted = Omit<Budget, 'amount_usd'> & { readonly amount_usd: string };

const windowOf = (hours: number, amount_usd: string): Wanted => ({ period: 'window', hours, amount_usd });
const ofModel = (model: string, period: Budget['period'], amount_usd: string): Wanted => ({
  hours: 0,
  period,
  model,
  amount_usd,
});
const perUser = (period: Budget['period'], amount_usd: string): Wanted => ({
  hours: 0,
  period,
  per_end_user: true,
  amount_usd,
});

describe('budgets of rolling windows, models and end users', () => {
  let fixture: AuthFixture;
  let organizationId: string;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  afterAll(() => fixture.stop());
  beforeEach(async () => {
    ({ id: organizationId } = await fixture.organization());
  });

  type Budgets = Wanted[] | null;
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

  it('of models and of each end user reach edges with the grant, and are in views and the audit log', async () => {
    await ofOrganization([ofModel('acme/*', 'month', '5')]);
    const budgets = [
      perUser('total', '1'),
      { ...perUser('window', '0.5'), hours: 5 },
      ofModel('acme/m', 'day', '2'),
    ];
    const { key, secret } = await fixture.createKey(organizationId, keyBody({}, { budgets }));
    expect(key.budgets).toEqual(budgets);
    expect(await latestDetails()).toMatchObject({
      other_budgets: [
        { period: 'total', per_end_user: true, amount_nano_usd: '1000000000' },
        { period: 'window', hours: 5, per_end_user: true },
        { period: 'day', model: 'acme/m' },
      ],
    });
    const keySha256 = createHash('sha256').update(secret).digest();
    const { outcome } = await fixture.auth.verifyKey({ keySha256 });
    expect(outcome?.$case === 'grant' && outcome.value.budgets).toEqual([
      {
        scope: BudgetScope.BUDGET_SCOPE_END_USER,
        ownerId: key.id,
        period: BudgetPeriod.BUDGET_PERIOD_TOTAL,
        amountNanoUsd: 1_000_000_000n,
      },
      {
        scope: BudgetScope.BUDGET_SCOPE_END_USER,
        ownerId: key.id,
        period: BudgetPeriod.BUDGET_PERIOD_WINDOW,
        hours: 5,
        amountNanoUsd: 500_000_000n,
      },
      {
        scope: BudgetScope.BUDGET_SCOPE_KEY,
        ownerId: key.id,
        period: BudgetPeriod.BUDGET_PERIOD_DAY,
        model: 'acme/m',
        amountNanoUsd: 2_000_000_000n,
      },
      {
        scope: BudgetScope.BUDGET_SCOPE_ORGANIZATION,
        ownerId: '',
        period: BudgetPeriod.BUDGET_PERIOD_MONTH,
        model: 'acme/*',
        amountNanoUsd: 5_000_000_000n,
      },
    ]);
  });

  it('of end users are refused for projects, and of a model for each end user', async () => {
    await expect(
      fixture.endpoints.call(projects.create, {
        params: inOrganization(),
        body: { name: 'Website', budgets: [perUser('day', '1')] },
      }),
    ).rejects.toMatchObject({ code: 'invalid', param: 'budgets' });
    await expect(
      fixture.createKey(
        organizationId,
        keyBody({}, { budgets: [{ ...perUser('day', '1'), model: 'acme/m' }] }),
      ),
    ).rejects.toMatchObject({ code: 'invalid', param: 'budgets' });
  });

  it('stay without the field, end with null or an empty list, and are in the audit log', async () => {
    await ofOrganization([windowOf(24, '5')]);
    expect(await latestDetails()).toEqual({
      changed: {
        other_budgets: {
          before: null,
          after: [{ period: 'window', hours: 24, amount_nano_usd: '5000000000' }],
        },
      },
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
    ['more than twenty', Array.from({ length: 21 }, (_, index) => windowOf(index + 1, '1'))],
    ['two of one model and period', [ofModel('acme/m', 'day', '1'), ofModel('acme/m', 'day', '2')]],
    ['an asterisk within a model', [ofModel('acme/*-mini', 'day', '1')]],
    ['a comma within a model', [ofModel('acme/m,acme/n', 'day', '1')]],
    ['a space within a model', [ofModel('acme m', 'day', '1')]],
    ['hours of a day', [{ ...ofModel('acme/m', 'day', '1'), hours: 24 }]],
    ['a window without hours', [ofModel('acme/m', 'window', '1')]],
    ['a period that has a field', [{ period: 'day' as const, amount_usd: '1' }]],
    ['end users of an organization', [perUser('day', '1')]],
    ['an amount of zero', [windowOf(24, '0')]],
    ['an amount above the limit', [windowOf(24, '1000000001')]],
  ])('are refused with %s', async (_what, budgets) => {
    await expect(ofOrganization(budgets)).rejects.toMatchObject({
      code: 'invalid',
      param: expect.stringMatching(/^budgets/),
    });
  });
});
