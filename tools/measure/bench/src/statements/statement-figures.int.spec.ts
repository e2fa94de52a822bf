import { openBenchDatabase, type BenchDatabase } from '../bench-database';
import { nameOf, renderStatements, startCounting, STATEMENT_SETTINGS } from './statement-figures';

describe('statements', () => {
  let database: BenchDatabase;
  beforeAll(async () => void (database = await openBenchDatabase(STATEMENT_SETTINGS)), 60_000);
  afterAll(() => database.remove(), 60_000);

  it('are counted since counting started, for all roles, with their rows', async () => {
    const query = 'select * from generate_series(1, $1::integer) as counted';
    await database.usagePool.query(query, [7]);
    const counting = await startCounting(database.adminUrl);
    await database.usagePool.query(query, [5]);
    await database.ledgerPool.query(query, [3]);
    const counts = (await counting.read()).filter((each) => each.query.includes('counted'));
    expect(counts).toMatchObject([{ calls: 2, rows: 8 }]);
    expect(counts[0]?.milliseconds).toBeGreaterThan(0);
  });
});

it('are shown per request, in descending order of time, with a total', () => {
  const text = renderStatements(
    [
      { query: 'cheap', calls: 20, milliseconds: 1, rows: 0 },
      { query: 'expensive\n  one', calls: 5, milliseconds: 4, rows: 10 },
    ],
    10,
  ).split('\n');
  expect(text.slice(1).map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'expensive one 0.500 400.0 800 1.00',
    'cheap 2.000 100.0 50 0.00',
    'all 2.500 500.0 200 1.00',
  ]);
  expect(nameOf(` a\n\t b `)).toBe('a b');
});
