import { createHash } from 'node:crypto';
import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { parts } from '@gateway/dashboard-contract';
import {
  budgetsBody,
  codeOf,
  createAuthFixture,
  keyBody,
  type AuthFixture,
  type Limits,
} from '../testing/auth-under-test';

const LIMITS: Limits = {
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
  maxOutputTokens: undefined,
  multipleCompletions: false,
  dailyBudgetNanoUsd: 100n,
  weeklyBudgetNanoUsd: 150n,
  monthlyBudgetNanoUsd: 200n,
  totalBudgetNanoUsd: undefined,
};
const { BUDGET_SCOPE_KEY: KEY, BUDGET_SCOPE_PROJECT: PROJECT } = BudgetScope;
const OF_ORGANIZATION = [
  [BudgetPeriod.BUDGET_PERIOD_DAY, LIMITS.dailyBudgetNanoUsd],
  [BudgetPeriod.BUDGET_PERIOD_WEEK, LIMITS.weeklyBudgetNanoUsd],
  [BudgetPeriod.BUDGET_PERIOD_MONTH, LIMITS.monthlyBudgetNanoUsd],
].map(([period, amountNanoUsd]) => ({
  scope: BudgetScope.BUDGET_SCOPE_ORGANIZATION,
  ownerId: '',
  period,
  amountNanoUsd,
}));
const BUDGETS = { dailyBudgetNanoUsd: 50n, monthlyBudgetNanoUsd: 150n };

describe('projects', () => {
  let fixture: AuthFixture;
  let organizationId: string;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  afterAll(() => fixture.stop());
  beforeEach(async () => {
    organizationId = (await fixture.organization()).id;
    await fixture.setLimits(organizationId, LIMITS);
  });

  const bodyOf = (projectId: string | undefined, limits: Limits = {}) =>
    keyBody(limits, { project_id: projectId ?? null });
  async function keyIn(projectId: string | undefined, limits: Limits = {}) {
    const { key, secret } = await fixture.createKey(organizationId, bodyOf(projectId, limits));
    return { id: key.id, secret };
  }
  const move = (keyId: string, projectId: string | undefined, limits: Limits = {}) =>
    fixture.updateKey(organizationId, keyId, bodyOf(projectId, limits));
  async function grantOf(secret: string) {
    const keySha256 = createHash('sha256').update(secret).digest();
    const { outcome } = await fixture.auth.verifyKey({ keySha256 });
    return outcome?.$case === 'grant' ? outcome.value : undefined;
  }
  /** By day, month and total. */
  const amountsOf = async (secret: string, scope: BudgetScope) =>
    (await grantOf(secret))?.budgets.flatMap((budget) =>
      budget.scope === scope ? [budget.amountNanoUsd] : [],
    );
  async function latestAudit() {
    const { entries } = await fixture.auditLog.listAudit({ organizationId, pageSize: 1, pageToken: '' });
    const [entry] = entries;
    return { action: entry?.action, target: entry?.target, details: JSON.parse(entry?.detailsJson ?? '') };
  }

  it('are created, listed, changed and archived, with an audit entry for each change', async () => {
    const { project: created } = await fixture.createProject(organizationId, BUDGETS, ' Website ');
    expect(created).toMatchObject({ name: 'Website', ...budgetsBody(BUDGETS), version: 1 });
    expect(created.id).toMatch(/^proj-[0-9A-Z]{26}$/);
    expect(await latestAudit()).toMatchObject({ action: 'project.create', target: created.id });
    const projectId = created.id;
    const { project: changed } = await fixture.updateProject(organizationId, projectId, { name: 'Shop' });
    expect(changed).toMatchObject({ name: 'Shop', version: 2, ...budgetsBody({}) });
    expect((await latestAudit()).details).toEqual({
      changed: {
        name: { before: 'Website', after: 'Shop' },
        daily_budget_nano_usd: { before: '50', after: null },
        monthly_budget_nano_usd: { before: '150', after: null },
      },
    });
    const list = async (state: 'active' | 'archived') => {
      const request = { params: { organization_id: organizationId }, query: { state } };
      return (await fixture.endpoints.call(parts.projects, request)).data.map(({ id }) => id);
    };
    expect(await list('active')).toEqual([projectId]);
    await fixture.archiveProject(organizationId, projectId);
    expect(await latestAudit()).toMatchObject({ action: 'project.archive', target: projectId });
    expect([await list('active'), await list('archived')]).toEqual([[], [projectId]]);
    const again = fixture.updateProject(organizationId, projectId, { name: 'Again' });
    expect(await codeOf(again)).toBe('conflict');
  });

  it('refuse budgets above the organization, a stale version, and projects of other organizations', async () => {
    for (const [budgets, field] of [
      [{ dailyBudgetNanoUsd: 101n }, 'daily_budget_usd'],
      [{ weeklyBudgetNanoUsd: 151n }, 'weekly_budget_usd'],
      [{ monthlyBudgetNanoUsd: 201n }, 'monthly_budget_usd'],
      [{ totalBudgetNanoUsd: 0n }, 'total_budget_usd'],
    ] as const) {
      await expect(fixture.createProject(organizationId, budgets)).rejects.toMatchObject({
        ...{ code: 'invalid', param: field },
      });
    }
    const { id: projectId } = await fixture.project(organizationId);
    const stale = fixture.updateProject(organizationId, projectId, { name: 'New', version: 7 });
    await expect(stale).rejects.toMatchObject({
      code: 'version_conflict',
      metadata: { current: { id: projectId, name: 'Project', version: 1 } },
    });
    const { id: foreign } = await fixture.project((await fixture.organization('Other')).id);
    expect(await codeOf(fixture.updateProject(organizationId, foreign, { name: 'New' }))).toBe('not_found');
    const inForeign = fixture.createKey(organizationId, bodyOf(foreign));
    await expect(inForeign).rejects.toMatchObject({ code: 'invalid', param: 'project_id' });
  });

  it('reach edges with the grant of each key, also after a move and a change', async () => {
    const one = await fixture.project(organizationId, BUDGETS);
    const other = await fixture.project(organizationId);
    const key = await keyIn(one.id);
    expect(await grantOf(key.secret)).toMatchObject({
      projectId: one.id,
      budgets: [
        { scope: PROJECT, ownerId: one.id, period: BudgetPeriod.BUDGET_PERIOD_DAY, amountNanoUsd: 50n },
        { scope: PROJECT, ownerId: one.id, period: BudgetPeriod.BUDGET_PERIOD_MONTH, amountNanoUsd: 150n },
        ...OF_ORGANIZATION,
      ],
    });
    const change = { name: 'One', budgets: { dailyBudgetNanoUsd: 7n } };
    await fixture.updateProject(organizationId, one.id, change);
    expect(await amountsOf(key.secret, PROJECT)).toEqual([7n]);
    await move(key.id, other.id);
    expect(await grantOf(key.secret)).toMatchObject({ projectId: other.id, budgets: OF_ORGANIZATION });
    expect((await latestAudit()).details).toMatchObject({
      changed: { project_id: { before: one.id, after: other.id } },
    });
    await move(key.id, undefined);
    expect((await grantOf(key.secret))?.projectId).toBeUndefined();
  });

  it('bound the budgets of their keys, which are lowered with them and with the organization', async () => {
    const { id: projectId } = await fixture.project(organizationId, BUDGETS);
    const above = fixture.createKey(organizationId, bodyOf(projectId, { dailyBudgetNanoUsd: 51n }));
    await expect(above).rejects.toMatchObject({
      code: 'invalid',
      param: 'daily_budget_usd',
      message: expect.stringContaining("the project's"),
    });
    const inside = await keyIn(projectId, { dailyBudgetNanoUsd: 50n, monthlyBudgetNanoUsd: 10n });
    const outside = await keyIn(undefined, { dailyBudgetNanoUsd: 90n });
    expect(await codeOf(move(outside.id, projectId, { dailyBudgetNanoUsd: 90n }))).toBe('invalid');
    const budgets = { dailyBudgetNanoUsd: 20n, monthlyBudgetNanoUsd: 150n };
    await fixture.updateProject(organizationId, projectId, { name: 'Project', budgets });
    expect(await latestAudit()).toMatchObject({
      action: 'project.update',
      details: { lowered_keys: [inside.id] },
    });
    expect(await amountsOf(inside.secret, KEY)).toEqual([20n, 10n]);
    expect(await amountsOf(outside.secret, KEY)).toEqual([90n]);

    const limits = { ...LIMITS, dailyBudgetNanoUsd: 15n, monthlyBudgetNanoUsd: 140n };
    await fixture.setLimits(organizationId, limits);
    expect((await latestAudit()).details).toMatchObject({
      lowered_keys: [inside.id, outside.id].sort(),
      lowered_projects: [projectId],
    });
    expect(await amountsOf(inside.secret, PROJECT)).toEqual([15n, 140n]);
    expect(await amountsOf(inside.secret, KEY)).toEqual([15n, 10n]);
  });

  it('are archived only without active keys, and take no key then', async () => {
    const { id: projectId } = await fixture.project(organizationId);
    const key = await keyIn(projectId);
    const archive = () => fixture.archiveProject(organizationId, projectId);
    expect(await codeOf(archive())).toBe('conflict');
    await fixture.revokeKey(organizationId, key.id);
    const archived = await archive();
    expect(await archive()).toEqual(archived);
    const inArchived = fixture.createKey(organizationId, bodyOf(projectId));
    await expect(inArchived).rejects.toMatchObject({ code: 'invalid', param: 'project_id' });
  });

  it('list their keys', async () => {
    const { id: projectId } = await fixture.project(organizationId);
    const key = await keyIn(projectId);
    await keyIn(undefined);
    const { data } = await fixture.listKeys(organizationId, { project_id: projectId });
    expect(data.map(({ id, project_id: of }) => [id, of])).toEqual([[key.id, projectId]]);
  });

  describe('in the database', () => {
    const violation = { code: '23514' };

    it('bound keys and are bound by the organization, whichever row changes', async () => {
      const { id: projectId } = await fixture.project(organizationId, BUDGETS);
      const { id: otherId } = await fixture.project((await fixture.organization('Other')).id);
      const { id: keyId } = await keyIn(projectId, { dailyBudgetNanoUsd: 40n });
      for (const [change, id] of [
        ['update api_keys set daily_budget_nano_usd = 51 where id = $1', keyId],
        ['update projects set daily_budget_nano_usd = 39 where id = $1', projectId],
        ['update projects set monthly_budget_nano_usd = 201 where id = $1', projectId],
        ['update projects set archived_at = now() where id = $1', projectId],
        ['update organizations set monthly_budget_nano_usd = 149 where id = $1', organizationId],
        [`update api_keys set project_id = '${otherId}' where id = $1`, keyId],
      ] as const) {
        await expect(fixture.pool.query(change, [id])).rejects.toMatchObject(violation);
      }
    });

    it('bound keys under concurrent transactions, whichever commits first', async () => {
      for (const keyFirst of [true, false]) {
        const { id: projectId } = await fixture.project(organizationId, BUDGETS);
        const { id: keyId } = await keyIn(projectId);
        const changes = [
          ['update api_keys set daily_budget_nano_usd = 45 where id = $1', keyId],
          ['update projects set daily_budget_nano_usd = 30 where id = $1', projectId],
        ] as const;
        const [first, second] = keyFirst ? changes : [changes[1], changes[0]];
        const one = await fixture.pool.connect();
        const other = await fixture.pool.connect();
        try {
          await one.query('begin');
          await one.query(first[0], [first[1]]);
          const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
          const refused = expect(other.query(second[0], [second[1]])).rejects.toMatchObject(violation);
          await waitsForLock(rows[0]?.pid ?? 0);
          await one.query('commit');
          await refused;
        } finally {
          one.release(true);
          other.release(true);
        }
      }
    });

    async function waitsForLock(pid: number): Promise<void> {
      for (;;) {
        const { rows } = await fixture.pool.query(
          `select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`,
          [pid],
        );
        if (rows.length > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  });

  it('hold while projects, their keys and the organization change at once', async () => {
    const { id: projectId } = await fixture.project(organizationId, BUDGETS);
    const { id: keyId } = await keyIn(projectId);
    const reasons = new Set<unknown>();
    for (let round = 0; round < 12; round += 1) {
      const lower = round % 2 === 0;
      const limits = { ...LIMITS, dailyBudgetNanoUsd: lower ? 20n : 100n };
      const budgets = { dailyBudgetNanoUsd: lower ? 40n : 60n };
      const body = bodyOf(projectId, { dailyBudgetNanoUsd: 50n });
      const responses = await Promise.all([
        codeOf(fixture.setLimits(organizationId, limits)),
        codeOf(fixture.updateProject(organizationId, projectId, { name: 'P', budgets })),
        codeOf(fixture.updateKey(organizationId, keyId, body)),
        codeOf(fixture.createKey(organizationId, body)),
      ]);
      for (const reason of responses) reasons.add(reason);
    }
    expect(reasons).toEqual(new Set([undefined, 'invalid']));
  });
});
