import { DAY_MS, type UnixMs } from '@gateway/base';
import { announceSeed, seededRandom } from '@gateway/testing';
import { auditLedger } from '../audit/audit-ledger';
import {
  announce,
  createLedgerRig,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerRig,
} from '../testing/ledger-rig';
import { createHoldModel } from './hold-model';

const BATCHES = 150;
const MAX_BATCH = 24;
const ORGANIZATIONS = ['org-a', 'org-b', 'org-c', 'org-without-credit'];
const KEYS = ['key-1', 'key-2'];

/** Far above what it takes, for machines that do much else. */
jest.setTimeout(120_000);

let rig: LedgerRig;

beforeAll(async () => {
  rig = await createLedgerRig();
});

afterAll(async () => {
  await rig.close();
});

it('decides every batch as a simple model does that takes one hold after the other', async () => {
  await announceSeed(async (seed) => {
    const random = seededRandom(seed);
    const model = createHoldModel();
    const { store } = rig.first;
    const at = rig.clock.now();
    let counter = 0;

    const budget = () => (random.chance(0.4) ? usdNano(random.integer(0, 400)) : undefined);
    const nextHold = () => {
      const known = random.chance(0.1) ? model.holdIds() : [];
      const createdUnixMs = (random.chance(0.2) ? at + DAY_MS : at) as UnixMs;
      return makeHold({
        holdId: known.length > 0 ? random.pick(known) : `gen-${seed}-${(counter += 1)}`,
        organizationId: random.pick(ORGANIZATIONS),
        keyId: random.pick(KEYS),
        amount: random.chance(0.1) ? 0 : random.integer(1, 60),
        at: createdUnixMs,
        organizationDailyBudgetNanoUsd: budget(),
        keyDailyBudgetNanoUsd: budget(),
      });
    };

    for (let batch = 0; batch < BATCHES; batch += 1) {
      if (random.chance(0.3)) {
        const organizationId = random.pick(ORGANIZATIONS.slice(0, 3));
        const amount = random.integer(1, 300);
        await store.addCredit({
          creditId: `credit-${seed}-${batch}`,
          organizationId,
          amountNanoUsd: usdNano(amount),
          note: 'simulation',
        });
        model.addCredit(organizationId, BigInt(amount));
      }
      const wanted = Array.from({ length: random.integer(1, MAX_BATCH) }, nextHold);
      const holds = wanted.filter(
        ({ holdId }, index) => wanted.findIndex((other) => other.holdId === holdId) === index,
      );
      const outcomes = await store.holdCredit(holds);
      expect(outcomes).toEqual(holds.map((hold) => model.take(hold)));

      const ending = model.openHoldIds().filter(() => random.chance(0.4));
      const settled = ending.filter(() => random.chance(0.7));
      const voided = ending.filter((holdId) => !settled.includes(holdId));
      await store.voidHolds(
        voided.map((holdId) => ({ holdId, organizationId: model.holdOf(holdId)?.organizationId ?? '' })),
      );
      for (const holdId of voided) model.end(holdId, 0n);
      const finished = random.shuffle(settled).map((generationId) => {
        const organizationId = model.holdOf(generationId)?.organizationId ?? '';
        return makeFinished({ generationId, organizationId, cost: random.integer(0, 70), at });
      });
      await store.settleGenerations(finished, announce);
      for (const { generationId, usage } of finished) model.end(generationId, BigInt(usage.completionTokens));
    }

    for (const organizationId of ORGANIZATIONS) {
      const { availableNanoUsd } = await store.readBalance(organizationId);
      expect(availableNanoUsd).toBe(model.available(organizationId));
    }
    expect((await auditLedger(rig.first.pool)).faults).toEqual([]);
  });
});
