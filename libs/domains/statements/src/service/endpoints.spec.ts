import { createAdminClient } from '@gateway/admin-calls';
import { describeAccessOfEndpoints } from '@gateway/admin-calls/testing';
import { nanoUsd } from '@gateway/base';
import { LedgerUnavailableError } from '@gateway/billing-ledger/core';
import { endpoints } from '@gateway/dashboard-contract';
import { createMetrics, createSilentLogger, newId } from '@gateway/runtime';
import { createTestClock, inProcessFor } from '@gateway/test-support';
import { createStatementsModule, type StatementsPorts } from './module';

const BALANCE = {
  creditedNanoUsd: nanoUsd(10_000_000_000n),
  chargedNanoUsd: nanoUsd(1n),
  heldNanoUsd: nanoUsd(0n),
  availableNanoUsd: nanoUsd(9_999_999_999n),
};

function servicesWith(ledger: object = {}, statements: object = {}) {
  const { services } = createStatementsModule({
    ledger: { readBalance: async () => BALANCE, ...ledger } as unknown as StatementsPorts['ledger'],
    statements: statements as never,
    alerts: {} as never,
    alertSenders: [],
    webhookUrlIssue: () => undefined,
    reconciler: {} as never,
    budgetAlerts: {} as never,
    auditEntries: [],
    newId,
    clock: createTestClock(0),
    log: createSilentLogger(),
    metrics: createMetrics({ processMetrics: false }),
  });
  return services;
}

const services = servicesWith();
describeAccessOfEndpoints('billing-ledger', () => services);

describe('adding credit', () => {
  const params = { organization_id: 'org-1' };
  const add = (addCredit: (credit: { creditId: string }) => Promise<string>, input: object) =>
    createAdminClient(inProcessFor(servicesWith({ addCredit }))).call(endpoints.credit.add, {
      ...{ params, body: { amount_usd: '10.00', note: 'hello' } },
      ...input,
    });

  it('records amount, note and author, and returns the balance', async () => {
    const seen: unknown[] = [];
    const response = await add(async (...args) => String(seen.push(args)), {});
    expect(response).toMatchObject({
      credit: { amount_usd: '10', note: 'hello' },
      balance: { total_credits_usd: '10', balance_usd: '9.999999999', available_usd: '9.999999999' },
    });
    expect(seen).toEqual([
      [
        expect.objectContaining({ organizationId: 'org-1', note: 'operator@example.com: hello' }),
        expect.objectContaining({ action: 'credit.add', details: { amount_usd: '10', note: 'hello' } }),
      ],
    ]);
  });

  it('derives the same credit from the same Idempotency-Key, per organization', async () => {
    const ids: string[] = [];
    const addWith = (key: string, organization_id = 'org-1') =>
      add(async ({ creditId }) => String(ids.push(creditId)), {
        ...{ headers: { 'idempotency-key': key }, params: { organization_id } },
      });
    await addWith('one');
    await addWith('one');
    await addWith('two');
    await addWith('one', 'org-2');
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(3);
    await expect(addWith('')).rejects.toMatchObject({ code: 'invalid', param: 'idempotency-key' });
  });

  it('of another amount with the same key is a conflict, and one with an unknown outcome a failure', async () => {
    await expect(add(async () => 'conflict', {})).rejects.toMatchObject({
      ...{ code: 'conflict', param: 'Idempotency-Key' },
    });
    const unavailable = () => Promise.reject(new LedgerUnavailableError('lost'));
    await expect(add(unavailable, {})).rejects.toMatchObject({ code: 'no_capacity' });
    await expect(add(() => Promise.reject(new Error('lost')), {})).rejects.toMatchObject({
      code: 'internal_error',
    });
  });

  it.each([
    [{ amount_usd: '-1' }, 'amount_usd'],
    [{ amount_usd: '0.00' }, 'amount_usd'],
    [{ amount_usd: '1e3' }, 'amount_usd'],
    [{ amount_usd: '1', to: 'x' }, 'to'],
  ])('is refused with %j, naming %s', async (body, param) => {
    const addCredit = () => Promise.reject(new Error('not called'));
    await expect(add(addCredit, { body })).rejects.toMatchObject({ code: 'invalid', param });
  });
});

it('reads the spend of the organization, the project or the key that the path names', async () => {
  const seen: unknown[] = [];
  const spend = {
    todayNanoUsd: 1n,
    thisWeekNanoUsd: 5n,
    thisMonthNanoUsd: 20n,
    totalNanoUsd: 300n,
    heldNanoUsd: 4n,
  };
  const readBudgetSpend = async (...call: unknown[]) => (seen.push(call), [spend]);
  const readWindowSpend = async (
    _organization: string,
    owners: readonly object[],
    lengths: readonly number[],
  ) => {
    seen.push([owners, lengths]);
    return owners.map(() => lengths.map((hours) => ({ hours, spentNanoUsd: 7n, heldNanoUsd: 8n })));
  };
  const client = createAdminClient(inProcessFor(servicesWith({}, { readBudgetSpend, readWindowSpend })));
  const params = { organization_id: 'org-1', key_id: 'key-1' };
  await expect(client.call(endpoints.keys.budgetSpend, { params })).resolves.toEqual({
    spend: {
      today_usd: '0.000000001',
      this_week_usd: '0.000000005',
      this_month_usd: '0.00000002',
      total_usd: '0.0000003',
      held_usd: '0.000000004',
    },
    windows: [],
    models: [],
  });
  const organization = await client.call(endpoints.organizations.budgetSpend, {
    params: { organization_id: 'org-1' },
    query: { hours: '24,5' },
  });
  const amounts = { spent_usd: '0.000000007', held_usd: '0.000000008' };
  expect(organization.windows).toEqual([
    { hours: 24, ...amounts },
    { hours: 5, ...amounts },
  ]);
  await client.call(endpoints.projects.budgetSpend, {
    params: { organization_id: 'org-1', project_id: 'proj-1' },
    query: { models: 'acme/*' },
  });
  expect(seen).toEqual([
    ['org-1', [{ scope: 'key', ownerId: 'key-1' }]],
    ['org-1', [{ scope: 'organization', ownerId: '' }]],
    [[{ scope: 'organization', ownerId: '' }], [24, 5]],
    [
      'org-1',
      [
        { scope: 'project', ownerId: 'proj-1' },
        { scope: 'project', ownerId: 'proj-1', model: 'acme/*' },
      ],
    ],
  ]);
});

it('lists the end users of a key that are closest to their budget, and hours only for windows', async () => {
  const seen: unknown[] = [];
  const listEndUserSpend = async (query: unknown) => {
    seen.push(query);
    return [
      { endUser: 'alice', spentNanoUsd: 7n, heldNanoUsd: 8n },
      { endUser: '', spentNanoUsd: 1n, heldNanoUsd: 0n },
    ];
  };
  const client = createAdminClient(inProcessFor(servicesWith({}, { listEndUserSpend })));
  const list = (query: { period: 'window' | 'month'; hours?: string; limit?: string }) =>
    client.call(endpoints.keys.endUserSpend, {
      params: { organization_id: 'org-1', key_id: 'key-1' },
      query,
    });
  expect(await list({ period: 'month' })).toEqual({
    data: [
      { end_user: 'alice', spent_usd: '0.000000007', held_usd: '0.000000008' },
      { end_user: null, spent_usd: '0.000000001', held_usd: '0' },
    ],
  });
  await list({ period: 'window', hours: '5', limit: '100' });
  const of = { organizationId: 'org-1', keyId: 'key-1' };
  expect(seen).toEqual([
    { ...of, period: 'month', hours: undefined, limit: 10 },
    { ...of, period: 'window', hours: 5, limit: 100 },
  ]);
  for (const query of [
    { period: 'window' as const },
    { period: 'month' as const, hours: '5' },
    { period: 'window' as const, hours: '745' },
  ])
    await expect(list(query)).rejects.toMatchObject({ code: 'invalid', param: 'hours' });
  await expect(list({ period: 'month', limit: '101' })).rejects.toMatchObject({ param: 'limit' });
});
