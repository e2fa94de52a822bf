import { TEST_OPERATOR } from '@gateway/test-support';
import type { BillingLedgerDefinition, Hold } from '@gateway/contracts/billing-ledger';
import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { GenerationFinished, GenerationSettled, IdempotentEnding } from '@gateway/contracts/events';
import { encryptResponse, UnprocessableEventsError, type LoggedEvent } from '@gateway/events';
import type { RpcHandlers } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { auditLedger } from '@gateway/ledger-audit';
import { CLAIM_RETENTION_MS } from '../core/limits';
import { createLedgerFixture, UNIT_PRICES, type LedgerFixture } from '../testing/ledger-fixture';
import { createBillingLedgerModule } from './module';

let fixture: LedgerFixture;
let ledger: GatewayModule;
const metrics = createMetrics({ processMetrics: false });
let handlers: RpcHandlers<BillingLedgerDefinition>;
const context = { signal: new AbortController().signal, metadata: {}, actor: TEST_OPERATOR };

beforeAll(async () => {
  fixture = await createLedgerFixture();
  ledger = createBillingLedgerModule({
    store: fixture.first.store,
    claims: fixture.first.claims,
    history: fixture.first.history,
    clock: fixture.clock,
    log: createSilentLogger(),
    metrics,
    maintenanceIntervalMs: 10,
  });
  await ledger.start();
  handlers = ledger.services[0]?.handlers as unknown as RpcHandlers<BillingLedgerDefinition>;
});

afterAll(async () => {
  await ledger.stop();
  await fixture.close();
});

afterEach(async () => {
  expect((await auditLedger(fixture.first.pool)).faults).toEqual([]);
});

const BUDGET = {
  scope: BudgetScope.BUDGET_SCOPE_KEY,
  ownerId: 'key-1',
  period: BudgetPeriod.BUDGET_PERIOD_DAY,
  amountNanoUsd: 1_000n,
};

function holdOf(holdId: string, organizationId: string, amount: bigint, more: Partial<Hold> = {}): Hold {
  const now = BigInt(fixture.clock.now());
  return {
    holdId,
    organizationId,
    keyId: 'key-1',
    amountNanoUsd: amount,
    prices: UNIT_PRICES,
    createdUnixMs: now,
    lifetimeMs: 60_000,
    budgets: [],
    ...more,
  };
}

function finishedOf(generationId: string, organizationId: string, cost: number): GenerationFinished {
  return GenerationFinished.fromPartial({
    generationId,
    organizationId,
    keyId: 'key-1',
    modelId: 'acme/m-1',
    createdUnixMs: BigInt(fixture.clock.now()),
    usage: { completionTokens: cost },
    prices: UNIT_PRICES,
  });
}

let position = 0n;
const eventOf = (payload: Uint8Array): LoggedEvent => ({
  topic: 'generation.finished',
  position: (position += 1n),
  key: 'org',
  payload,
  headers: { traceparent: '00-trace' },
});

function addCredit(organizationId: string, amountNanoUsd: bigint) {
  return handlers.addCredit(
    { creditId: `credit-${organizationId}`, organizationId, amountNanoUsd, note: 'test' },
    context,
  );
}

async function hold(...holds: Hold[]): Promise<(string | undefined)[]> {
  const { results } = await handlers.holdCredit({ holds }, context);
  return results.map(({ outcome }) => outcome?.$case);
}

describe('the service', () => {
  it('holds, settles and reports a consistent balance', async () => {
    await addCredit('org-1', 1_000n);
    expect(await hold(holdOf('gen-1', 'org-1', 400n), holdOf('gen-2', 'org-1', 700n))).toEqual([
      'held',
      'insufficientCredits',
    ]);
    await handlers.settleGenerations({ generations: [finishedOf('gen-1', 'org-1', 150)] }, context);
    await hold(holdOf('gen-3', 'org-1', 100n));
    expect(await handlers.getBalance({ organizationId: 'org-1' }, context)).toEqual({
      totalCreditsNanoUsd: 1_000n,
      totalUsageNanoUsd: 150n,
      balanceNanoUsd: 850n,
      heldNanoUsd: 100n,
      availableNanoUsd: 750n,
    });
    await handlers.voidHolds({ holds: [{ holdId: 'gen-3', organizationId: 'org-1' }] }, context);
    expect((await handlers.getBalance({ organizationId: 'org-1' }, context)).availableNanoUsd).toBe(850n);
  });

  it('an invalid hold does not refuse the others of its request', async () => {
    await addCredit('org-batch', 100n);
    await addCredit('org-other', 100n);
    await hold(holdOf('gen-foreign', 'org-other', 1n), holdOf('gen-closed', 'org-batch', 1n));
    await handlers.voidHolds({ holds: [{ holdId: 'gen-closed', organizationId: 'org-batch' }] }, context);
    const outcomes = await hold(
      holdOf('gen-first', 'org-batch', 10n),
      holdOf('gen-negative', 'org-batch', -1n),
      holdOf('', 'org-batch', 1n),
      holdOf('gen-foreign', 'org-batch', 1n),
      holdOf('gen-closed', 'org-batch', 1n),
      holdOf('gen-unwritable', 'org-batch', 1n, {
        prices: { ...UNIT_PRICES, imageNanoUsdPerMillion: 1n << 63n },
      }),
      holdOf('gen-last', 'org-batch', 20n),
    );
    const rejected = Array<string>(5).fill('rejected');
    expect(outcomes).toEqual(['held', ...rejected, 'held']);
    const { heldNanoUsd } = await handlers.getBalance({ organizationId: 'org-batch' }, context);
    expect(heldNanoUsd).toBe(30n);
  });

  it('counts decided holds by outcome', async () => {
    await addCredit('org-m', 1_000n);
    const held = async () => {
      const { values } = await metrics.getSingleMetric('gateway_billing_ledger_holds_total')!.get();
      return values.find(({ labels }) => labels['outcome'] === 'held')?.value ?? 0;
    };
    const before = await held();
    await hold(
      holdOf('gen-m1', 'org-m', 1n),
      holdOf('gen-m2', 'org-m', 1n),
      holdOf('gen-m3', 'org-m', 2_000n),
    );
    expect((await held()) - before).toBe(2);
  });

  it('measures the delay of a settlement', async () => {
    await addCredit('org-delay', 1_000n);
    await hold(holdOf('gen-delay', 'org-delay', 10n));
    const created = BigInt(fixture.clock.now());
    const message = { ...finishedOf('gen-delay', 'org-delay', 5), createdUnixMs: created, latencyMs: 200 };
    await fixture.clock.advance(3_200);
    const sum = async () => (await metrics.metrics()).match(/settlement_delay_seconds_sum (\S+)/)?.[1];
    const before = Number(await sum());
    await handlers.settleGenerations({ generations: [message] }, context);
    expect(Number(await sum()) - before).toBeCloseTo(3, 6);
  });

  it('admits exactly as many parallel requests as the balance covers', async () => {
    await addCredit('org-2', 70n);
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) => hold(holdOf(`gen-p${index}`, 'org-2', 10n))),
    );
    expect(outcomes.flat().filter((outcome) => outcome === 'held')).toHaveLength(7);
  });

  it('places a hold once that is requested twice concurrently', async () => {
    await addCredit('org-3', 100n);
    const twice = await Promise.all([
      hold(holdOf('gen-t', 'org-3', 60n)),
      hold(holdOf('gen-t', 'org-3', 60n)),
    ]);
    expect(twice).toEqual([['held'], ['held']]);
    expect((await handlers.getBalance({ organizationId: 'org-3' }, context)).heldNanoUsd).toBe(60n);
  });

  it('does not place a hold whose call was cancelled', async () => {
    await addCredit('org-4', 100n);
    const cancelled = { ...context, signal: AbortSignal.abort() };
    await expect(
      handlers.holdCredit({ holds: [holdOf('gen-cancelled', 'org-4', 60n)] }, cancelled),
    ).rejects.toThrow();
    expect((await handlers.getBalance({ organizationId: 'org-4' }, context)).heldNanoUsd).toBe(0n);
  });

  it.each([
    ['a negative amount', { amountNanoUsd: -1n }],
    ['an amount above the limit', { amountNanoUsd: 2n ** 62n }],
    ['no prices', { prices: undefined }],
    ['no key', { keyId: '' }],
    ['an id with a NUL', { holdId: 'gen-\0' }],
    ['no time', { createdUnixMs: 0n }],
    ['a time after the year 9999', { createdUnixMs: 2n ** 62n }],
    ['a lifetime of days', { lifetimeMs: 86_400_001 }],
    ['a negative budget', { budgets: [{ ...BUDGET, amountNanoUsd: -1n }] }],
    [
      'a budget of an unknown scope',
      { budgets: [{ ...BUDGET, scope: BudgetScope.BUDGET_SCOPE_UNSPECIFIED }] },
    ],
    [
      'a budget for an unknown period',
      { budgets: [{ ...BUDGET, period: BudgetPeriod.BUDGET_PERIOD_UNSPECIFIED }] },
    ],
    ['a window without hours', { budgets: [{ ...BUDGET, period: BudgetPeriod.BUDGET_PERIOD_WINDOW }] }],
    [
      'a window of too many hours',
      { budgets: [{ ...BUDGET, period: BudgetPeriod.BUDGET_PERIOD_WINDOW, hours: 745 }] },
    ],
    ['a day with hours', { budgets: [{ ...BUDGET, hours: 24 }] }],
    ['a budget of a run without the run', { budgets: [{ ...BUDGET, scope: BudgetScope.BUDGET_SCOPE_RUN }] }],
    ['a budget of another owner', { budgets: [{ ...BUDGET, ownerId: 'key-other' }] }],
  ])('rejects only the hold with %s', async (what, invalid) => {
    const good = `gen-next-to-${what.replaceAll(' ', '-')}`;
    await addCredit('org-1', 1_000n);
    const before = await handlers.getBalance({ organizationId: 'org-1' }, context);
    expect(await hold(holdOf('gen-bad', 'org-1', 1n, invalid), holdOf(good, 'org-1', 1n))).toEqual([
      'rejected',
      'held',
    ]);
    await handlers.voidHolds({ holds: [{ holdId: good, organizationId: 'org-1' }] }, context);
    expect(await handlers.getBalance({ organizationId: 'org-1' }, context)).toEqual(before);
  });

  it('refuses zero credit, and a credit id used for another amount', async () => {
    await expect(addCredit('org-5', 0n)).rejects.toMatchObject({ code: 'invalid_request' });
    await addCredit('org-5', 10n);
    await expect(addCredit('org-5', 20n)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('voids overdue holds automatically', async () => {
    await addCredit('org-6', 100n);
    await hold(holdOf('gen-late', 'org-6', 60n, { lifetimeMs: 1 }));
    await fixture.clock.advance(2);
    let held = 60n;
    while (held > 0n) {
      ({ heldNanoUsd: held } = await handlers.getBalance({ organizationId: 'org-6' }, context));
    }
    expect(held).toBe(0n);
  });
});

describe('the consumer of generation.finished', () => {
  const consume = (...payloads: Uint8Array[]) => ledger.consumers[0]!.handle(payloads.map(eventOf));
  const encode = (finished: GenerationFinished) => GenerationFinished.encode(finished).finish();

  it('settles each generation once under redelivery and announces it with cost, charge and prices', async () => {
    await addCredit('org-7', 100n);
    await hold(holdOf('gen-7', 'org-7', 60n));
    const payload = encode(finishedOf('gen-7', 'org-7', 25));
    await consume(payload, payload);
    await consume(payload);
    const announced = (await fixture.announced()).filter(
      (settled) => settled.finished?.generationId === 'gen-7',
    );
    expect(announced).toEqual([
      GenerationSettled.fromPartial({
        finished: finishedOf('gen-7', 'org-7', 25),
        costNanoUsd: 25n,
        chargedNanoUsd: 25n,
        settledUnixMs: BigInt(fixture.clock.now()),
        prices: UNIT_PRICES,
      }),
    ]);
  });

  it('rejects each invalid event, and settles the rest of the batch', async () => {
    await addCredit('org-8', 100n);
    await hold(holdOf('gen-8', 'org-8', 60n));
    const invalid = [
      Buffer.from([0xff, 0xff, 0xff]),
      encode({ ...finishedOf('gen-x', 'org-8', 1), usage: undefined }),
      encode({ ...finishedOf('gen-y', 'org-8', 1), prices: undefined }),
      encode({ ...finishedOf('gen-z', '', 1) }),
      encode({
        ...finishedOf('gen-v', 'org-8', 4_000_000_000),
        prices: { ...UNIT_PRICES, outputNanoUsdPerMillion: 2n ** 62n },
      }),
    ];
    const failure = consume(invalid[0]!, encode(finishedOf('gen-8', 'org-8', 25)), ...invalid.slice(1));
    await expect(failure).rejects.toBeInstanceOf(UnprocessableEventsError);
    const error = (await failure.catch((thrown: unknown) => thrown)) as UnprocessableEventsError;
    expect(error.unprocessable).toHaveLength(invalid.length);
    expect((await handlers.getBalance({ organizationId: 'org-8' }, context)).totalUsageNanoUsd).toBe(25n);
  });
});

describe('the ending of a claim', () => {
  const claimed = async (scope: string, generationId: string, body = 1) => {
    const { outcome } = await handlers.claimIdempotencyKey(
      {
        scope,
        organizationId: 'org-keys',
        bodySha256: Buffer.alloc(32, body),
        generationId,
        leaseMs: 1_000,
      },
      context,
    );
    return outcome;
  };
  const claim = async (...claimant: Parameters<typeof claimed>) => (await claimed(...claimant))?.$case;
  const end = (scope: string, generationId: string, ending: IdempotentEnding) =>
    handlers.endIdempotencyClaims({ endedClaims: [{ claim: { scope, generationId }, ending }] }, context);

  it.each([
    ['refused', IdempotentEnding.IDEMPOTENT_ENDING_REFUSED],
    ['failed', IdempotentEnding.IDEMPOTENT_ENDING_FAILED],
    ['cancelled', IdempotentEnding.IDEMPOTENT_ENDING_CANCELLED],
    ['unknown', IdempotentEnding.IDEMPOTENT_ENDING_UNKNOWN],
  ])('%s frees its key for any body, and only its own', async (name, ending) => {
    expect(await claim(`key-${name}`, `gen-${name}`)).toBe('claimed');
    await end(`key-${name}`, 'gen-of-another', ending);
    expect(await claim(`key-${name}`, `gen-${name}-2`)).toBe('inFlight');
    await end(`key-${name}`, `gen-${name}`, ending);
    expect(await claim(`key-${name}`, `gen-${name}-2`, 2)).toBe('claimed');
  });

  it('completed keeps its key in flight beyond the lease, until the settlement has stored the response', async () => {
    expect(await claim('key-completed', 'gen-completed')).toBe('claimed');
    await end('key-completed', 'gen-completed', IdempotentEnding.IDEMPOTENT_ENDING_COMPLETED);
    await fixture.clock.advance(60_000);
    expect(await claim('key-completed', 'gen-completed-2')).toBe('inFlight');
    const endedClaim = {
      scope: 'key-completed',
      responseJson: Buffer.from('{}'),
      ending: IdempotentEnding.IDEMPOTENT_ENDING_COMPLETED,
    };
    await handlers.settleGenerations(
      { generations: [{ ...finishedOf('gen-completed', 'org-keys', 0), endedClaim }] },
      context,
    );
    expect(await claim('key-completed', 'gen-completed-3')).toBe('completed');
  });

  it('is completed for an event with a response and no ending', async () => {
    expect(await claim('key-old', 'gen-old')).toBe('claimed');
    const endedClaim = {
      scope: 'key-old',
      responseJson: Buffer.from('{}'),
      ending: IdempotentEnding.IDEMPOTENT_ENDING_UNSPECIFIED,
    };
    await handlers.settleGenerations(
      { generations: [{ ...finishedOf('gen-old', 'org-keys', 0), endedClaim }] },
      context,
    );
    expect(await claim('key-old', 'gen-old-2')).toBe('completed');
  });

  it.each(['a router of this version', 'an older router'])(
    'replays the response of %s, and has no copy of it that can be read once the claim is deleted',
    async (router) => {
      const [scope, generationId] = [`key of ${router}`.replaceAll(' ', '-'), `gen-${router.length}`];
      const [json, events] = [Buffer.from('{"text":"marker-word"}'), Buffer.from('compressed marker-word')];
      const outcome = await claimed(scope, generationId);
      const key = outcome?.$case === 'claimed' ? outcome.value.responseKey : undefined;
      const endedClaim = {
        scope,
        ending: IdempotentEnding.IDEMPOTENT_ENDING_COMPLETED,
        ...(router === 'an older router'
          ? { responseJson: json, responseEvents: events }
          : {
              encryptedResponse: encryptResponse(
                key ?? Buffer.alloc(0),
                { scope, generationId },
                { json, events },
              ),
            }),
      };
      await handlers.settleGenerations(
        { generations: [{ ...finishedOf(generationId, 'org-keys', 0), endedClaim }] },
        context,
      );
      expect(await claimed(scope, 'gen-replay')).toEqual({
        $case: 'completed',
        value: { generationId, responseJson: json, responseEvents: events },
      });
      const stored = await fixture.auditPool.query<{ text: string }>(
        `select encode(encrypted_response, 'escape') as text from idempotency_claims where scope = $1`,
        [scope],
      );
      expect(stored.rows[0]?.text).not.toContain('marker-word');
      await fixture.clock.advance(CLAIM_RETENTION_MS);
      await fixture.first.claims.deleteExpiredClaims(1_000);
      const left = await fixture.auditPool.query('select from idempotency_claims where scope = $1', [scope]);
      expect(left.rowCount).toBe(0);
    },
  );

  it('is not affected by a response that cannot be opened: only its replay fails', async () => {
    await claim('key-garbled', 'gen-garbled');
    const endedClaim = {
      scope: 'key-garbled',
      encryptedResponse: Buffer.alloc(64),
      ending: IdempotentEnding.IDEMPOTENT_ENDING_COMPLETED,
    };
    await handlers.settleGenerations(
      { generations: [{ ...finishedOf('gen-garbled', 'org-keys', 0), endedClaim }] },
      context,
    );
    const results = await Promise.allSettled([
      claim('key-garbled', 'gen-replay'),
      claim('key-readable', 'gen-readable'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('is refused if it is not known', async () => {
    await expect(end('key', 'gen', IdempotentEnding.IDEMPOTENT_ENDING_UNSPECIFIED)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
