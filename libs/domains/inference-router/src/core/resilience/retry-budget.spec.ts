import { BACKOFF, RetryBudgets, retryPauseMs } from './retry-budget';

describe('the retry budget', () => {
  it('allows retries for a fifth of the calls once its initial budget is used up, per provider', () => {
    const budgets = new RetryBudgets({ retriesPerCall: 0.2, maxSavedRetries: 2 });
    let retries = 0;
    for (let call = 0; call < 100; call += 1) {
      budgets.deposit('sick');
      if (budgets.withdraw('sick')) retries += 1;
    }
    expect(retries).toBeGreaterThanOrEqual(20);
    expect(retries).toBeLessThanOrEqual(22);
    expect(budgets.withdraw('healthy')).toBe(true);
  });

  it('waits between zero and a doubling cap, but at least the retry-after', () => {
    expect(retryPauseMs(1, 0, undefined)).toBe(0);
    expect(retryPauseMs(1, 0.5, undefined)).toBe(50);
    expect(retryPauseMs(2, 0.5, undefined)).toBe(100);
    expect(retryPauseMs(20, 0.999, undefined)).toBeLessThan(BACKOFF.maxMs);
    expect(retryPauseMs(1, 0, 1_000)).toBe(1_000);
    expect(retryPauseMs(1, 0, BACKOFF.maxMs + 1)).toBeUndefined();
  });
});
