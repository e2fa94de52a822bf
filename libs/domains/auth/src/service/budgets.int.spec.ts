import { BudgetsDefinition, MemberRole } from '@gateway/contracts/auth';
import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { createClient, createInProcessTransport, type RpcClient } from '@gateway/rpc';
import { unsignedActors } from '@gateway/test-support';
import { createAuthFixture, keyBody, type AuthFixture } from '../testing/auth-under-test';

const ORGANIZATION = { scope: BudgetScope.BUDGET_SCOPE_ORGANIZATION, ownerId: '' };
const PROJECT = BudgetScope.BUDGET_SCOPE_PROJECT;
const { BUDGET_PERIOD_DAY: DAY, BUDGET_PERIOD_MONTH: MONTH, BUDGET_PERIOD_TOTAL: TOTAL } = BudgetPeriod;

describe('budgets for the alerts of the ledger', () => {
  let fixture: AuthFixture;
  let budgets: RpcClient<typeof BudgetsDefinition>;
  let organizationId: string;

  beforeAll(async () => {
    fixture = await createAuthFixture();
    const transport = createInProcessTransport(fixture.module.services, { actors: unsignedActors });
    budgets = createClient(BudgetsDefinition, transport);
  });
  afterAll(() => fixture.stop());
  beforeEach(async () => {
    organizationId = (await fixture.organization('Acme')).id;
  });

  async function keyWith(limits: object): Promise<string> {
    return (await fixture.key(organizationId, limits)).id;
  }
  const list = (pageToken = '') => budgets.listBudgets({ organizationId, pageToken });

  it('are those of the organization, active projects and keys that are not revoked', async () => {
    await fixture.setLimits(organizationId, { monthlyBudgetNanoUsd: 90n });
    const project = await fixture.project(organizationId, { totalBudgetNanoUsd: 7n });
    const archived = await fixture.project(organizationId, { totalBudgetNanoUsd: 8n });
    await fixture.archiveProject(organizationId, archived.id);
    const key = await keyWith({ dailyBudgetNanoUsd: 5n });
    const revoked = await keyWith({ dailyBudgetNanoUsd: 6n });
    await fixture.revokeKey(organizationId, revoked);
    await keyWith({ requestsPerMinute: 1 });
    const { owners, nextPageToken } = await list();
    expect(owners).toEqual([
      { ownerId: '', name: 'Acme', budgets: [{ ...ORGANIZATION, period: MONTH, amountNanoUsd: 90n }] },
      {
        ownerId: key,
        name: keyBody().name,
        budgets: [{ scope: BudgetScope.BUDGET_SCOPE_KEY, ownerId: key, period: DAY, amountNanoUsd: 5n }],
      },
      {
        ownerId: project.id,
        name: 'Project',
        budgets: [{ scope: PROJECT, ownerId: project.id, period: TOTAL, amountNanoUsd: 7n }],
      },
    ]);
    expect(nextPageToken).toBe('');
  });

  it('come with the time zones of people who have one', async () => {
    const emails = ['zoned@example.com', 'other@example.com', 'unknown@example.com'];
    for (const email of emails.slice(0, 2)) await fixture.member(email, 'staple and tomato');
    await fixture.pool.query(`update members set time_zone = 'Asia/Tokyo' where email = $1`, [emails[0]]);
    expect((await budgets.listTimeZones({ emails })).timeZones).toEqual({
      'zoned@example.com': 'Asia/Tokyo',
    });
  });

  it('include the ceiling where the organization has no budget', async () => {
    await fixture.setCeilings(organizationId, { dailyBudgetNanoUsd: 40n });
    expect((await list()).owners).toMatchObject([
      { ownerId: '', budgets: [{ ...ORGANIZATION, period: DAY, amountNanoUsd: 40n }] },
    ]);
  });

  it('continue after a page', async () => {
    await fixture.pool.query(
      `insert into projects (id, organization_id, name, daily_budget_nano_usd, created_at)
       select 'proj-' || lpad(n::text, 26, '0'), $1, 'P', 1, now() from generate_series(1, 1001) n`,
      [organizationId],
    );
    const first = await list();
    expect(first.owners).toHaveLength(1_000);
    const second = await list(first.nextPageToken);
    expect(second).toMatchObject({ nextPageToken: '', emails: [] });
    expect(second.owners.map(({ ownerId }) => ownerId)).toEqual([`proj-${'0'.repeat(22)}1001`]);
  });

  it('name the people who may change the alerts, and no disabled ones', async () => {
    for (const role of ['owner', 'admin', 'developer', 'billing', 'member', 'disabled']) {
      const email = `${role}@${organizationId.toLowerCase()}.example.com`;
      const { member } = await fixture.admin.ensureMember({
        ...{ email, password: 'correct horse battery', resetPassword: false },
        role: MemberRole.MEMBER_ROLE_MEMBER,
      });
      await fixture.pool.query('insert into memberships values ($1, $2, $3, now())', [
        organizationId,
        member?.id,
        role === 'disabled' ? 'owner' : role,
      ]);
      if (role === 'disabled') {
        await fixture.pool.query('update members set disabled_at = now() where id = $1', [member?.id]);
      }
    }
    const { emails } = await list();
    expect(emails.map((email) => email.split('@')[0])).toEqual(['admin', 'billing', 'owner']);
  });
});
