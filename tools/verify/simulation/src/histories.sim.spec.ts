import { createPostgresReconciler } from '@gateway/statements';
import { describeHistory } from './describe-history';
import { generateHistory } from './generate-history';
import type { History } from './history';
import { runHistory, type HistoryFailure, type ExtraCheck } from './run-history';
import { shrinkHistory } from './shrink-history';
import { createSimulatedLedger, type SimulatedLedger } from './simulated-ledger';

const HISTORIES = Number(process.env['SIMULATION_HISTORIES'] ?? 200);
const FIRST_SEED = Number(process.env['SIMULATION_SEED'] ?? 1);
/** Databases that run histories in parallel. */
const LANES = 2;
const PROGRESS_EVERY = 500;

/** One minute per hundred histories: far above the usual duration, for busy machines. */
jest.setTimeout(60_000 + HISTORIES * 600);

let ledgers: SimulatedLedger[];

beforeAll(async () => {
  ledgers = await Promise.all(Array.from({ length: LANES }, () => createSimulatedLedger()));
});

afterAll(() => Promise.all(ledgers.map((ledger) => ledger.close())));

it(`the ledger is consistent after every step of ${HISTORIES} histories with repeated, late, concurrent and failing calls`, async () => {
  const seeds = Array.from({ length: HISTORIES }, (_, index) => FIRST_SEED + index).values();
  const failures: string[] = [];
  let done = 0;
  await Promise.all(
    ledgers.map(async (ledger) => {
      for (const seed of seeds) {
        const history = generateHistory(seed);
        const failure = await runHistory(ledger, history, reconciliation);
        if (failure) failures.push(await explain(ledger, history, failure));
        if (failures.length > 0) return;
        done += 1;
        if (done % PROGRESS_EVERY === 0) process.stderr.write(`${done} of ${HISTORIES} histories\n`);
      }
    }),
  );
  expect(failures.join('\n\n')).toBe('');
});

/** The ledger's own reconciliation, which must not report differences in a consistent ledger. */
const reconciliation: ExtraCheck = async ({ fixture }) => {
  const { appender, clock } = fixture;
  const run = await createPostgresReconciler({ pool: fixture.first.pool, appender, clock }).reconcile(2);
  return (run?.differences ?? []).map(
    ({ organizationId, kind, expectedNanoUsd, foundNanoUsd }) =>
      `reconciliation: ${kind} of ${organizationId} is ${foundNanoUsd} instead of ${expectedNanoUsd}`,
  );
};

/** The shrunk history, its failure and how to reproduce it. */
async function explain(ledger: SimulatedLedger, history: History, first: HistoryFailure): Promise<string> {
  const smallest = await shrinkHistory(history, (candidate) => runHistory(ledger, candidate, reconciliation));
  const failure = await runHistory(ledger, smallest, reconciliation);
  const where = failure ? `after step ${failure.step + 1}: ${failure.what}` : 'only in some runs';
  // A failure that occurs only in some runs shrinks badly, so the first failure is shown as well.
  const atFirst = `first failure after step ${first.step + 1} of ${history.steps.length}: ${first.what}`;
  return `${describeHistory(smallest)}\n${where}\n${atFirst}\nreproduce: npm run simulate -- --histories 1 --seed ${history.seed}`;
}
