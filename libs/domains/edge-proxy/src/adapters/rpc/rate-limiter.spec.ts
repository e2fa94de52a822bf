import { type Admission, LimitScope, LimitType, RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { bindService, createClient, createInProcessTransport, RpcError } from '@gateway/rpc';
import { createSilentLogger } from '@gateway/runtime';
import { createFaultPlan } from '../../testing/fault-plan';
import { createStubLimiter } from '../../testing/stub-limiter';
import { createRateLimiter } from './rate-limiter';

const faults = createFaultPlan();
const stub = createStubLimiter(faults);
const transport = createInProcessTransport([bindService(RateLimitDefinition, stub.handlers)]);
const limiter = createRateLimiter({
  rateLimit: createClient(RateLimitDefinition, transport),
  now: () => 0,
  log: createSilentLogger(),
  onReleaseDropped: () => {},
});

function admission(admissionId: string): Admission {
  const none = { requestsPerMinute: undefined, tokensPerMinute: undefined, concurrency: undefined };
  const ids = { admissionId, organizationId: 'org_1', keyId: 'key_1' };
  return { ...ids, tokens: 1, organizationLimits: none, keyLimits: none };
}

const calls = (step: string) => faults.reached.filter((reached) => reached === step).length;

it('sends concurrent requests in one message, and returns each its own result', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `gen-${index}`);
  const results = await Promise.all(ids.map((id) => limiter.admit(admission(id))));
  expect(results.every(({ outcome }) => outcome?.$case === 'admitted')).toBe(true);
  expect([...stub.outstanding.keys()]).toEqual(ids);
  expect(calls('limiter.admit')).toBe(1);

  const outcome = { $case: 'used', value: { tokens: 1 } } as const;
  await Promise.all(ids.map((id) => limiter.finish({ ...admission(id), outcome })));
  expect(stub.outstanding.size).toBe(0);
  expect(calls('limiter.finish')).toBe(1);
});

it('reports a rate-limit timeout as no_capacity, not as a timeout of the model', async () => {
  faults.at('limiter.admit', () => {
    throw new RpcError('deadline_exceeded', 'too slow');
  });
  await expect(limiter.admit(admission('gen-late'))).rejects.toMatchObject({ code: 'no_capacity' });
});

it('reports an undecided admission as no_capacity, without affecting others in the batch', async () => {
  const client = createRateLimiter({
    rateLimit: createClient(
      RateLimitDefinition,
      createInProcessTransport([
        bindService(RateLimitDefinition, {
          ...stub.handlers,
          admit: async ({ admissions }) => ({
            results: admissions.map(({ admissionId }) => ({
              outcome:
                admissionId === 'gen-lost'
                  ? { $case: 'undecided', value: {} }
                  : { $case: 'admitted', value: { slotLeaseMs: 30_000, hasRoom: false } },
              requests: undefined,
              tokens: undefined,
            })),
          }),
        }),
      ]),
    ),
    now: () => 0,
    log: createSilentLogger(),
    onReleaseDropped: () => {},
  });
  const [lost, other] = await Promise.allSettled([
    client.admit(admission('gen-lost')),
    client.admit(admission('gen-other')),
  ]);
  expect(lost).toMatchObject({ status: 'rejected', reason: { code: 'no_capacity' } });
  expect(other).toMatchObject({ status: 'fulfilled', value: { outcome: { $case: 'admitted' } } });
});

describe('a request that arrives before rate-limit has confirmed the finish of an earlier one', () => {
  const finished = { ...admission('gen-first'), outcome: { $case: 'used', value: { tokens: 1 } } } as const;
  const ids = { limit: 1, retryAfterMs: 1_000, scope: LimitScope.LIMIT_SCOPE_KEY };

  /** Refuses admissions until the first request is finished, which happens only after the first refusal. */
  async function admitNext(limitType: LimitType) {
    stub.refuse = { ...ids, limitType };
    let refused = () => {};
    const refusal = new Promise<void>((resolve) => (refused = resolve));
    faults.at('limiter.admitted', refused);
    faults.at('limiter.finish', async () => {
      await refusal;
      stub.refuse = undefined;
    });
    const finishing = limiter.finish(finished);
    const result = await limiter.admit(admission('gen-next'));
    refused();
    await finishing;
    return result.outcome?.$case;
  }

  it.each([
    ['slot', LimitType.LIMIT_TYPE_CONCURRENCY],
    ['tokens', LimitType.LIMIT_TYPE_TOKENS],
  ])('is not refused for the %s of that one', async (_what, limitType) => {
    expect(await admitNext(limitType)).toBe('admitted');
  });

  it('is refused when rate-limit does not confirm that finish', async () => {
    stub.refuse = { ...ids, limitType: LimitType.LIMIT_TYPE_CONCURRENCY };
    let confirm = () => {};
    faults.at('limiter.finish', () => new Promise<void>((resolve) => (confirm = resolve)));
    const finishing = limiter.finish(finished);
    const { outcome } = await limiter.admit(admission('gen-next'));
    expect(outcome?.$case).toBe('refused');
    confirm();
    await finishing;
  });

  it('is refused at once where the limit counts requests', async () => {
    expect(await admitNext(LimitType.LIMIT_TYPE_REQUESTS)).toBe('refused');
  });
});
