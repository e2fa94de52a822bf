import { announceSeed, seededRandom } from '@gateway/testing';
import { auditLedger } from '../audit/audit-ledger';
import { createLedgerRig, type LedgerRig } from '../testing/ledger-rig';
import { breakConnections } from './faulty-connections';
import { createWorld } from './world';

const STEPS = 120;
const STEPS_BETWEEN_AUDITS = 4;
const FAULTS = { lostAnswer: 0.03, cut: 0.02 };

/** Far above what it takes, for machines that do much else. */
jest.setTimeout(120_000);

let rig: LedgerRig;

beforeAll(async () => {
  rig = await createLedgerRig();
});

afterAll(async () => {
  await rig.close();
});

async function expectSoundBooks() {
  const audit = await auditLedger(rig.auditPool);
  expect(audit.faults).toEqual([]);
  return audit;
}

it('money adds up whatever is repeated, late, concurrent or interrupted, from two ledgers at once', async () => {
  await announceSeed(async (seed) => {
    const random = seededRandom(seed);
    breakConnections(rig.first.pool, random, FAULTS);
    breakConnections(rig.second.pool, random, FAULTS);
    const world = createWorld(rig, random, seed);

    for (let step = 1; step <= STEPS; step += 1) {
      await world.step();
      if (step % STEPS_BETWEEN_AUDITS === 0) await expectSoundBooks();
    }
    await world.drain();

    const audit = await expectSoundBooks();
    expect(audit.openHolds).toBe(0);
    const credited = [...world.credits.values()].reduce((total, { amount }) => total + amount, 0);
    expect(audit.totals.credited).toBe(BigInt(credited));
    // Everything that finished was settled and announced once, at one cost.
    const announced = await rig.announced();
    expect(announced.map((settled) => settled.finished?.generationId).sort()).toEqual(
      [...world.finished.keys()].sort(),
    );
    for (const { finished, costNanoUsd } of announced) {
      const usage = world.finished.get(finished?.generationId ?? '')?.usage;
      expect(costNanoUsd).toBe(BigInt(usage?.completionTokens ?? -1));
    }
    const charged = announced.reduce((total, settled) => total + settled.chargedNanoUsd, 0n);
    expect(audit.totals.charged).toBe(charged);
    await expectOneAnswerPerKey([...world.answered]);
  });
});

/** Of the generations that answered under one Idempotency-Key, all but one owed nothing. */
async function expectOneAnswerPerKey(generationIds: string[]): Promise<void> {
  const { rows } = await rig.auditPool.query<{ scope: string; owing: string }>(
    `select hold.idempotency_scope as scope, count(*)::text as owing
     from billing_ledger.holds hold
     join billing_ledger.postings posting on posting.reference = hold.hold_id and posting.kind = 'settlement'
     where hold.hold_id = any ($1) and posting.revenue_nano_usd > 0
     group by hold.idempotency_scope having count(*) > 1`,
    [generationIds],
  );
  expect(rows).toEqual([]);
}
