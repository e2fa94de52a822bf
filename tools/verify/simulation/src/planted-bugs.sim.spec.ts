import { generateHistory } from './generate-history';
import type { History } from './history';
import { runHistory } from './run-history';
import { shrinkHistory } from './shrink-history';
import { createSimulatedLedger, type SimulatedLedger } from './simulated-ledger';

/** The number of histories in which a bug must show. */
const MAX_HISTORIES = 200;
/** Shrinking runs a history dozens of times, so only every so many bugs are shrunk. */
const SHRINK_EVERY = 8;
/** Failures in a row after which a history counts as deterministic. */
const TIMES = 3;

/** Far above the usual duration, for busy machines. */
jest.setTimeout(240_000);

let ledger: SimulatedLedger;

beforeAll(async () => {
  ledger = await createSimulatedLedger();
});

afterAll(() => ledger.close());

/**
 * Each bug changes one line of an SQL function in the database. Most start at a
 * later seed, whose history shows it.
 */
type Bug = [what: string, functionName: string, right: string, wrong: string, firstSeed?: number];
const BUGS: Bug[] = [
  ['a closed hold is returned as held', 'hold_credit', "decision.outcome := 'closed';", 'continue;', 14],
  [
    'a budget does not count the holds of its own batch',
    'hold_credit',
    'select sum(of_key.amount)',
    'select min(of_key.amount)',
    131,
  ],
  [
    'a batch that is placed as a whole overdraws its budgets',
    'hold_credit',
    'if cardinality(p_budgets) > 0 then',
    'if false then',
    104,
  ],
  [
    'a batch that is placed as a whole has a closed hold',
    'place_covered_holds',
    'where closed.hold_id is not null',
    'where false',
    67,
  ],
  [
    'a settlement above its hold is charged in full',
    'settle_open_holds',
    'and hold.amount_nano_usd >= named.cost',
    '',
    223,
  ],
  [
    'the fast path charges at the prices of the event',
    'settle_open_holds',
    'and hold.prices = named.prices collate "C"',
    '',
    106,
  ],
  [
    'holds overdraw the total budget of an organization',
    'budget_use',
    "where p_scope = 'organization' and",
    'where false and',
    126,
  ],
  [
    'the first hold of a run needs no budget in a batch that is placed as a whole',
    'hold_credit',
    ') is not false;',
    ') is true;',
    13,
  ],
  [
    'the first hold of a run needs no budget',
    'hold_credit',
    'elsif not known.has_known_run then',
    'elsif false then',
    8,
  ],
  [
    'holds overdraw the budget of a run',
    'budget_use',
    'select spent_nano_usd, held_nano_usd, budget_nano_usd',
    'select 0, held_nano_usd, budget_nano_usd',
    120,
  ],
  [
    'a charge above its hold does not use up the budget of its run',
    'post_settlements',
    'select organization_id, run_id, charged, amount_nano_usd as released from opened',
    'select organization_id, run_id, least(charged, amount_nano_usd) as charged, amount_nano_usd as released from opened',
    201,
  ],
  [
    'holds ignore the total budget of a project',
    'first_exceeded_budget',
    'where coalesce(',
    "where (budget.scope <> 'project' or budget.period <> 'total') and coalesce(",
    3,
  ],
  [
    'a batch that is placed as a whole ignores the monthly budget of a project',
    'hold_credit',
    'where (',
    "where (budget.scope <> 'project' or budget.period <> 'month') and (",
    174,
  ],
  [
    'a week starts on Tuesday',
    'budget_periods',
    "date_trunc('week', p_day)::date,",
    "(date_trunc('week', p_day - 1) + interval '1 day')::date,",
    102,
  ],
  [
    'a batch that is placed as a whole ignores the weekly budget of a key',
    'hold_credit',
    'where (',
    "where (budget.scope <> 'key' or budget.period <> 'week') and (",
    62,
  ],
  [
    'a rolling window does not count what is held',
    'budget_use',
    'select 0, held_nano_usd, null',
    'select 0, 0, null',
    237,
  ],
  ['a rolling window is an hour too long', 'budget_use', 'p_hours - 1', 'p_hours', 250],
  [
    'a late settlement does not count in windows',
    'post_settlements',
    'union all select counters from late)',
    'union all select null::text[] from late)',
    278,
  ],
  [
    'an end user without a budget in the batch has that of another one',
    'first_exceeded_budget',
    'and (counter is null or counter = any (p_counters))',
    '',
    241,
  ],
  [
    'the daily budget of an end user has the day before',
    'budget_use',
    'else days.first_day::timestamp',
    'else (days.first_day - 1)::timestamp',
    263,
  ],
  ['a total budget for models is counted by the hour', 'settle_counters', "like '*%'", "like '-%'", 231],
  ['a void releases nothing in counters', 'void_holds', "and total.hour = 'infinity'", 'and false', 231],
  ['an extension does not count in windows', 'extend_holds', "and total.hour = 'infinity'", 'and false', 278],
  [
    'a settlement without a hold does not count against its project',
    'post_settlements',
    'budget_accounts_of(booked.key_id, booked.project_id, booked.day)',
    'budget_accounts_of(booked.key_id, null, booked.day)',
  ],
  [
    'a void does not release the amount held by its project',
    'void_holds',
    'budget_accounts_of(closed.key_id, closed.project_id, closed.day)',
    'budget_accounts_of(closed.key_id, null, closed.day)',
    49,
  ],
  [
    'a later hold changes the budget of its run',
    'first_exceeded_budget',
    'where coalesce(use.fixed, budget.amount)',
    'where coalesce(budget.amount, use.fixed)',
    120,
  ],
  [
    'a late settlement does not count against its run',
    'post_settlements',
    'select organization_id, run_id, charged, 0 from late',
    'select organization_id, run_id, charged, 0 from late where false',
    148,
  ],
  [
    'a void does not release the amount held by its run',
    'void_holds',
    'set held_nano_usd = run.held_nano_usd - batch.amount',
    'set held_nano_usd = run.held_nano_usd',
    6,
  ],
  [
    'an extension is not checked against the balance',
    'hold_refusal',
    'and available_nano_usd < p_amount',
    'and false',
    6,
  ],
  [
    'an extension is not checked against the budget of a key',
    'extend_holds',
    'hold.run_id, null, p_budgets,',
    "hold.run_id, null, array(select b from unnest(p_budgets) as b where scope <> 'key' or period <> 'day'),",
    52,
  ],
  [
    'an extension is not checked against the month of an organization',
    'extend_holds',
    'hold.run_id, null, p_budgets,',
    "hold.run_id, null, array(select b from unnest(p_budgets) as b where scope <> 'organization' or period <> 'month'),",
    65,
  ],
  [
    'an extension does not count against its project',
    'extend_holds',
    'budget_accounts_of(hold.key_id, hold.project_id, hold.day)',
    'budget_accounts_of(hold.key_id, null, hold.day)',
    191,
  ],
  [
    'an extension is not checked against the budget of its run',
    'extend_holds',
    'hold.run_id, null, p_budgets',
    'null, null, p_budgets',
    18,
  ],
  [
    'a void does not release what an extension held',
    'void_holds',
    'returning hold_id, organization_id, key_id, project_id, day, run_id, counted_hour, counters, amount_nano_usd as amount',
    `returning hold_id, organization_id, key_id, project_id, day, run_id, counted_hour, counters,
      (select held_nano_usd from postings where reference = hold_id and kind = 'hold') as amount`,
    89,
  ],
  [
    'a repeated extension is counted twice',
    'extend_holds',
    'extra := wanted.amount - hold.amount_nano_usd',
    `extra := wanted.amount - (select held_nano_usd from postings where reference = hold.hold_id and kind = 'hold')`,
    23,
  ],
  ['an extension of a closed hold is granted', 'extend_holds', "outcome := 'closed'", "outcome := 'held'", 8],
  [
    'a takeover of a key deletes its earlier claimants',
    'claim_idempotency_key',
    'when is_expired or not same_body then array[p_generation_id]',
    'when true then array[p_generation_id]',
    32,
  ],
];

it.each(BUGS)('is found: %s', (...bug) =>
  withBug(bug, async (firstSeed, original) => {
    const found = await firstHistoryThat(fails, firstSeed);
    await ledger.fixture.auditPool.query(original);
    // The bug, and not the history, is what fails.
    expect(await fails(found)).toBe(false);
  }),
);

it.each(BUGS.filter((_bug, index) => index % SHRINK_EVERY === 0))('is shrunk to a few steps: %s', (...bug) =>
  withBug(bug, async (firstSeed) => {
    const found = await firstHistoryThat(failsEveryTime, firstSeed);
    const smallest = await shrinkHistory(found, (candidate) => runHistory(ledger, candidate));
    expect(await fails(smallest)).toBe(true);
    expect(smallest.steps.length).toBeLessThanOrEqual(6);
  }),
);

/** @param test gets the seed to start at, and the definition of the function without the bug. */
async function withBug(
  [_what, functionName, right, wrong, firstSeed = 1]: Bug,
  test: (firstSeed: number, original: string) => Promise<void>,
): Promise<void> {
  const original = await definitionOf(functionName);
  expect(original).toContain(right);
  const { auditPool } = ledger.fixture;
  await auditPool.query(original.replace(right, wrong));
  try {
    await test(firstSeed, original);
  } finally {
    await auditPool.query(original);
  }
}

async function fails(history: History): Promise<boolean> {
  return (await runHistory(ledger, history)) !== undefined;
}

/** A failure that depends on a race shrinks badly. */
async function failsEveryTime(history: History): Promise<boolean> {
  for (let time = 0; time < TIMES; time += 1) if (!(await fails(history))) return false;
  return true;
}

async function firstHistoryThat(
  isFailing: (history: History) => Promise<boolean>,
  firstSeed: number,
): Promise<History> {
  for (let seed = firstSeed; seed < firstSeed + MAX_HISTORIES; seed += 1) {
    const history = generateHistory(seed);
    if (await isFailing(history)) return history;
  }
  throw new Error(`${MAX_HISTORIES} histories do not show the bug`);
}

async function definitionOf(functionName: string): Promise<string> {
  const { rows } = await ledger.fixture.auditPool.query<{ definition: string }>(
    'select pg_get_functiondef($1::regproc) as definition',
    [functionName],
  );
  return rows[0]?.definition ?? '';
}
