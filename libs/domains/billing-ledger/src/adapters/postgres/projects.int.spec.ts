import type { HoldRequest } from '../../core/credit/hold';
import type { FinishedGeneration } from '../../core/settlement/settlement';
import {
  announce,
  makeFinished,
  makeHold,
  type Amounts,
  type HoldChanges,
  type LedgerFixture,
} from '../../testing/ledger-fixture';
import { withLedger } from '../../testing/ledger-of-tests';

let fixture: LedgerFixture;
let organizationId: string;
withLedger((ledger) => ({ fixture, organizationId } = ledger));

const idOf = (name: string) => `${organizationId}-${name}`;
const hold = (name: string, amount: number, more: HoldChanges = {}) =>
  makeHold({ holdId: idOf(name), organizationId, amount, at: fixture.clock.now(), ...more });
const inProject = (projectId: string, project: Amounts = {}) => ({ projectId, limits: { project } });
const settle = (name: string, cost: number, more: Partial<FinishedGeneration> = {}) => {
  const at = fixture.clock.now();
  const generation = makeFinished({ generationId: idOf(name), organizationId, cost, at, ...more });
  return fixture.first.store.settleGenerations([generation], announce);
};
const voidHold = (name: string) => fixture.first.store.voidHolds([{ holdId: idOf(name), organizationId }]);
const place = (...holds: readonly HoldRequest[]) => fixture.first.store.holdCredit(holds);

async function accountsOf(owner: string) {
  const { rows } = await fixture.auditPool.query<{ day: string; spent: bigint; held: bigint }>(
    `select day::text as day, spent_nano_usd as spent, held_nano_usd as held from budget_accounts
     where organization_id = $1 and owner_id = $2 order by day`,
    [organizationId, owner],
  );
  return rows.map(({ day, spent, held }) => [day, spent, held]);
}

it('counts the holds and charges of all keys of a project, and releases voided holds', async () => {
  const project = inProject('proj-a', { total: 100 });
  expect(
    await place(
      hold('g1', 60, { ...project, keyId: 'key-1' }),
      hold('g2', 40, { ...project, keyId: 'key-2' }),
      hold('g3', 1, { ...project, keyId: 'key-3' }),
      hold('elsewhere', 50, inProject('proj-b', { total: 100 })),
      hold('without', 50),
    ),
  ).toMatchObject([
    { kind: 'held' },
    { kind: 'held' },
    { kind: 'budget_exceeded', scope: 'project', period: 'total', usedNanoUsd: 100n, heldNanoUsd: 100n },
    { kind: 'held' },
    { kind: 'held' },
  ]);
  await settle('g1', 25);
  await voidHold('g2');
  expect(await accountsOf('proj-a')).toEqual([
    ['2027-04-15', 25n, 0n],
    ['infinity', 25n, 0n],
  ]);
});

it('leaves what a key spent with the project in which it was admitted', async () => {
  await place(hold('before', 60, inProject('proj-a')), hold('voided', 20, inProject('proj-a')));
  // The key moves while both run.
  await place(hold('after', 30, inProject('proj-b')));
  await settle('before', 50, { projectId: 'proj-b' });
  await voidHold('voided');
  await settle('voided', 5, { projectId: 'proj-b' });
  await settle('after', 30);
  expect(await accountsOf('proj-a')).toEqual([
    ['2027-04-15', 55n, 0n],
    ['infinity', 55n, 0n],
  ]);
  expect(await accountsOf('proj-b')).toEqual([
    ['2027-04-15', 30n, 0n],
    ['infinity', 30n, 0n],
  ]);
});

it('charges a generation that is settled without a hold to the project of its event', async () => {
  await settle('without-hold', 12, { projectId: 'proj-a' });
  expect(await accountsOf('proj-a')).toEqual([
    ['2027-04-15', 12n, 0n],
    ['infinity', 12n, 0n],
  ]);
});

it('writes no account of a project for requests without a project', async () => {
  await place(hold('g1', 5), hold('g2', 5));
  await settle('g1', 5);
  await settle('without-hold', 5);
  const { rows } = await fixture.auditPool.query<{ owner: string }>(
    'select distinct owner_id as owner from budget_accounts where organization_id = $1 order by 1',
    [organizationId],
  );
  expect(rows.map(({ owner }) => owner)).toEqual(['', 'key-a']);
});

it('names the budget of the key before that of the project, and this before the organization', async () => {
  const projectId = 'proj-a';
  for (const period of ['day', 'week', 'month', 'total'] as const) {
    const [organization, project, key] = [{ [period]: 10 }, { [period]: 10 }, { [period]: 10 }];
    const all = hold(`all-${period}`, 11, { projectId, limits: { organization, project, key } });
    const two = hold(`two-${period}`, 11, { projectId, limits: { organization, project } });
    const one = hold(`one-${period}`, 11, { limits: { organization } });
    expect(await place(all)).toMatchObject([{ scope: 'key', period }]);
    expect(await place(two)).toMatchObject([{ scope: 'project', period }]);
    expect(await place(one)).toMatchObject([{ scope: 'organization', period }]);
  }
});

it.each(['day', 'week', 'month', 'total'] as const)(
  'never exceeds the %s budget of a project under concurrent holds of many keys in two ledgers',
  async (period) => {
    const outcomes = await Promise.all(
      Array.from({ length: 80 }, (_, index) => {
        const { store } = index % 2 === 0 ? fixture.first : fixture.second;
        const more = { ...inProject('proj-a', { [period]: 100 }), keyId: `key-${index % 7}` };
        return store.holdCredit([hold(`${period}-${index}`, 7, more)]);
      }),
    );
    const held = outcomes.flat().filter(({ kind }) => kind === 'held');
    expect(held).toHaveLength(14);
    expect(await accountsOf('proj-a')).toEqual([
      ['2027-04-15', 0n, 98n],
      ['infinity', 0n, 98n],
    ]);
  },
);
