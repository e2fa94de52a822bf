import { BudgetPeriod } from '@gateway/contracts/common';
import { endpoints } from '@gateway/dashboard-contract';
import { createHash } from 'node:crypto';
import { DEFAULT_ORGANIZATION_LIMITS } from '../core/organizations/limits';
import {
  codeOf,
  createAuthFixture,
  keyBody,
  limitsBody,
  type AuthFixture,
  type Limits,
} from '../testing/auth-under-test';

const INVALID = 'invalid';
const ALL: Limits = {
  requestsPerMinute: 100,
  tokensPerMinute: 1_000,
  dailyBudgetNanoUsd: 10_000_000_000n,
  weeklyBudgetNanoUsd: 100_000_000_000n,
  monthlyBudgetNanoUsd: 200_000_000_000n,
  totalBudgetNanoUsd: 900_000_000_000n,
  concurrency: 10,
  maxOutputTokens: 500,
  multipleCompletions: true,
};

describe('ceilings of organizations', () => {
  let fixture: AuthFixture;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  afterAll(() => fixture.stop());

  async function organization(ceilings: Limits, limits?: Limits) {
    return create({
      name: 'Capped',
      ceilings: limitsBody(ceilings),
      ...(limits && { limits: limitsBody(limits) }),
    });
  }
  async function create(body: {
    name: string;
    limits?: ReturnType<typeof limitsBody>;
    ceilings?: ReturnType<typeof limitsBody>;
  }) {
    return (await fixture.endpoints.call(endpoints.organizations.create, { body })).organization;
  }

  function keyWith(organizationId: string, limits: Limits) {
    return fixture.key(organizationId, limits);
  }

  async function grantOf(secret: string) {
    const keySha256 = createHash('sha256').update(secret).digest();
    const { outcome } = await fixture.auth.verifyKey({ keySha256 });
    return outcome?.$case === 'grant' ? outcome.value : undefined;
  }

  it('are the default limits for a new organization, without multiple completions', async () => {
    const created = await create({ name: 'New' });
    expect(created.limits).toEqual({ ...limitsBody(DEFAULT_ORGANIZATION_LIMITS), budgets: [] });
    expect(created.ceilings).toEqual(limitsBody(DEFAULT_ORGANIZATION_LIMITS));
    const set = (limits: Limits) => fixture.setLimits(created.id, limits);
    for (const [field, above] of [
      ['multiple_completions', { multipleCompletions: true }],
      ['concurrency', { concurrency: 65, multipleCompletions: false }],
    ] as const) {
      await expect(set({ ...noLimits(), ...above })).rejects.toMatchObject({ code: INVALID, param: field });
    }
    // An owner who removes the limits does not remove the ceilings.
    await set({ ...noLimits(), multipleCompletions: false });
    const { secret } = await keyWith(created.id, {});
    expect((await grantOf(secret))?.organizationLimits).toMatchObject(DEFAULT_ORGANIZATION_LIMITS);
  });

  it('are the limits that its operator chooses where these are above the defaults', async () => {
    const limits = { ...noLimits(), concurrency: 500, tokensPerMinute: 5, multipleCompletions: false };
    const created = await create({ name: 'Large', limits: limitsBody(limits) });
    expect(created.limits).toEqual({ ...limitsBody(limits), budgets: [] });
    expect(created.ceilings).toEqual(limitsBody({ ...DEFAULT_ORGANIZATION_LIMITS, concurrency: 500 }));
  });

  it.each([
    ['requests_per_minute', { requestsPerMinute: 101 }],
    ['tokens_per_minute', { tokensPerMinute: 1_001 }],
    ['daily_budget_usd', { dailyBudgetNanoUsd: 10_000_000_001n }],
    ['weekly_budget_usd', { weeklyBudgetNanoUsd: 100_000_000_001n }],
    ['monthly_budget_usd', { monthlyBudgetNanoUsd: 200_000_000_001n }],
    ['total_budget_usd', { totalBudgetNanoUsd: 900_000_000_001n }],
    ['concurrency', { concurrency: 11 }],
    ['max_output_tokens', { maxOutputTokens: 501 }],
  ])('refuse a limit above %s, and accept one at the ceiling', async (field, above) => {
    const { id: organizationId } = await organization(ALL, ALL);
    const set = (limits: Limits) => fixture.setLimits(organizationId, limits);
    await expect(set({ ...ALL, ...above })).rejects.toMatchObject({ code: INVALID, param: field });
    expect((await set(ALL)).organization.limits).toEqual({ ...limitsBody(ALL), budgets: [] });
  });

  it('apply where the organization has no limit: edges and keys are bound by the ceiling', async () => {
    const { id: organizationId } = await organization(ALL, { ...noLimits(), multipleCompletions: false });
    const { secret } = await keyWith(organizationId, { requestsPerMinute: 100 });
    const grant = await grantOf(secret);
    const { dailyBudgetNanoUsd, weeklyBudgetNanoUsd, monthlyBudgetNanoUsd, totalBudgetNanoUsd, ...counts } =
      ALL;
    expect(grant?.organizationLimits).toEqual({ ...counts, multipleCompletions: false });
    expect(grant?.budgets.map(({ period, amountNanoUsd }) => [period, amountNanoUsd])).toEqual([
      [BudgetPeriod.BUDGET_PERIOD_DAY, dailyBudgetNanoUsd],
      [BudgetPeriod.BUDGET_PERIOD_WEEK, weeklyBudgetNanoUsd],
      [BudgetPeriod.BUDGET_PERIOD_MONTH, monthlyBudgetNanoUsd],
      [BudgetPeriod.BUDGET_PERIOD_TOTAL, totalBudgetNanoUsd],
    ]);
    const above = fixture.createKey(organizationId, keyBody({ requestsPerMinute: 101 }));
    await expect(above).rejects.toMatchObject({ code: INVALID, param: 'requests_per_minute' });
  });

  it('that are lowered lower the limits of the organization and its keys, and the audit entry names them', async () => {
    const { id: organizationId } = await organization(ALL, ALL);
    const high = await keyWith(organizationId, { requestsPerMinute: 90, concurrency: 2 });
    const low = await keyWith(organizationId, { requestsPerMinute: 20 });
    const revoked = await keyWith(organizationId, { requestsPerMinute: 80 });
    await fixture.revokeKey(organizationId, revoked.id);
    const ceilings = { ...ALL, requestsPerMinute: 50, multipleCompletions: false };
    const { organization: changed } = await fixture.setCeilings(organizationId, ceilings);
    expect(changed).toMatchObject({ limits: limitsBody(ceilings), ceilings: limitsBody(ceilings) });
    expect(await grantOf(high.secret)).toMatchObject({
      keyLimits: { requestsPerMinute: 50, concurrency: 2 },
      organizationLimits: { requestsPerMinute: 50, multipleCompletions: false },
    });
    expect((await grantOf(low.secret))?.keyLimits).toMatchObject({ requestsPerMinute: 20 });
    expect((await grantOf(revoked.secret))?.keyLimits).toMatchObject({ requestsPerMinute: 80 });
    const { entries } = await fixture.auditLog.listAudit({ organizationId, pageSize: 1, pageToken: '' });
    expect(entries.map(({ action }) => action)).toEqual(['organization.set_ceilings']);
    expect(JSON.parse(entries[0]?.detailsJson ?? '')).toEqual({
      changed: {
        requests_per_minute: { before: 100, after: 50 },
        ceiling_requests_per_minute: { before: 100, after: 50 },
        multiple_completions: { before: true, after: false },
        ceiling_multiple_completions: { before: true, after: false },
      },
      lowered_keys: [high.id],
    });
  });

  it('lowered limits lower the keys above them, which get a new version', async () => {
    const { id: organizationId } = await organization(ALL, ALL);
    const { id: keyId } = await keyWith(organizationId, { dailyBudgetNanoUsd: 9n, tokensPerMinute: 900 });
    const limits = { ...ALL, dailyBudgetNanoUsd: 5n, tokensPerMinute: 1_000 };
    await fixture.setLimits(organizationId, limits);
    expect(await fixture.findKey(organizationId, keyId)).toMatchObject({
      ...{ daily_budget_usd: '0.000000005', tokens_per_minute: 900, version: 2 },
    });
  });

  it('refuse a stale version, and lower the default limits of a new organization', async () => {
    const { id: organizationId, limits } = await organization({
      ...noLimits(),
      requestsPerMinute: 7,
      multipleCompletions: true,
    });
    expect(limits).toMatchObject({ requests_per_minute: 7, concurrency: 64, multiple_completions: false });
    const change = fixture.endpoints.call(endpoints.organizations.setCeilings, {
      params: { organization_id: organizationId },
      body: { ...limitsBody(ALL), version: 9 },
    });
    expect(await codeOf(change)).toBe('version_conflict');
  });

  describe('in the database', () => {
    const violation = { code: '23514' };

    it('cannot be below a limit of the organization', async () => {
      const { id } = await organization(ALL, ALL);
      for (const [column, value] of Object.entries({
        requests_per_minute: 101,
        tokens_per_minute: 1_001,
        daily_budget_nano_usd: 10_000_000_001n,
        concurrency: 11,
        max_output_tokens: 501,
      })) {
        const change = `update organizations set ${column} = $2 where id = $1`;
        await expect(fixture.pool.query(change, [id, value])).rejects.toMatchObject(violation);
      }
      const off = 'update organizations set ceiling_multiple_completions = false where id = $1';
      await expect(fixture.pool.query(off, [id])).rejects.toMatchObject(violation);
    });

    it.each(['requests_per_minute', 'tokens_per_minute', 'daily_budget_nano_usd', 'concurrency'])(
      'bound %s of keys, whichever row changes',
      async (column) => {
        const { id: organizationId } = await organization(ALL, { ...noLimits(), multipleCompletions: false });
        const { id } = await keyWith(organizationId, {
          requestsPerMinute: 2,
          tokensPerMinute: 2,
          dailyBudgetNanoUsd: 2n,
          concurrency: 2,
        });
        const raise = `update api_keys set ${column} = 10000000001::bigint where id = $1`;
        const raiseCount = `update api_keys set ${column} = 1001 where id = $1`;
        const isBudget = column.startsWith('daily');
        await expect(fixture.pool.query(isBudget ? raise : raiseCount, [id])).rejects.toMatchObject(
          violation,
        );
        const lower = `update organizations set ${column} = 1 where id = $1`;
        await expect(fixture.pool.query(lower, [organizationId])).rejects.toMatchObject(violation);
        const lowerCeiling = `update organizations set ceiling_${column} = 1 where id = $1`;
        await expect(fixture.pool.query(lowerCeiling, [organizationId])).rejects.toMatchObject(violation);
      },
    );

    it('bound keys under concurrent transactions, whichever commits first', async () => {
      for (const keyFirst of [true, false]) {
        const { id: organizationId } = await organization(ALL, ALL);
        const { id: keyId } = await keyWith(organizationId, {});
        const changes = [
          ['update api_keys set requests_per_minute = 90 where id = $1', keyId],
          ['update organizations set requests_per_minute = 50 where id = $1', organizationId],
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

  it('hold while owners, operators and managers of keys change them at once', async () => {
    const { id: organizationId } = await organization(ALL, ALL);
    const { id: memberId } = (await fixture.member('racing@example.com', 'correct horse battery')).member ?? {
      id: '',
    };
    await fixture.pool.query(`update members set role = 'member' where id = $1`, [memberId]);
    await fixture.pool.query(`insert into memberships values ($1, $2, 'owner', now())`, [
      organizationId,
      memberId,
    ]);
    const person = {
      id: memberId,
      label: 'racing@example.com',
      organization: { id: organizationId, role: 'owner' as const },
    };
    const owner = fixture.endpointsAs(person);
    const { id: keyId } = await keyWith(organizationId, {});
    const reasons = new Set<string | undefined>();
    for (let round = 0; round < 15; round += 1) {
      const ceiling = { ...ALL, requestsPerMinute: round % 2 === 0 ? 40 : 100 };
      const raised = { ...ALL, requestsPerMinute: 90 };
      const body = keyBody({ requestsPerMinute: 80 });
      const responses = await Promise.all([
        codeOf(fixture.setLimits(organizationId, raised, fixture.endpointsAs(person))),
        codeOf(fixture.setCeilings(organizationId, ceiling)),
        codeOf(fixture.updateKey(organizationId, keyId, body, owner)),
        codeOf(fixture.createKey(organizationId, body, owner)),
      ]);
      for (const reason of responses) reasons.add(reason);
      const { rows } = await fixture.pool.query(
        `select from organizations o join api_keys k on k.organization_id = o.id
         where o.id = $1 and (o.requests_per_minute > o.ceiling_requests_per_minute
           or k.requests_per_minute > o.requests_per_minute)`,
        [organizationId],
      );
      expect(rows).toEqual([]);
    }
    expect(reasons).toEqual(new Set([undefined, INVALID]));
  });
});

function noLimits() {
  return {
    requestsPerMinute: undefined,
    tokensPerMinute: undefined,
    dailyBudgetNanoUsd: undefined,
    concurrency: undefined,
    maxOutputTokens: undefined,
  };
}
