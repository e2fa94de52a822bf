import fc from 'fast-check';
import { fuzzRuns } from '@gateway/testing';
import { Bulkheads } from './resilience/bulkhead';
import { finishReasonOf } from './completion/finish-reason';
import { MAX_PUBLIC_TEXT_CHARACTERS, publicText } from './failure/public-text';
import { BACKOFF, RetryBudgets, retryPauseMs } from './resilience/retry-budget';
import { believedUsage } from './generation/usage';

describe('the retry budget', () => {
  it('lets a fifth of the calls be repeated once its savings are gone, per provider', () => {
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

  it('waits between nothing and a doubling cap, never shorter than the provider asks', () => {
    expect(retryPauseMs(1, 0, undefined)).toBe(0);
    expect(retryPauseMs(1, 0.5, undefined)).toBe(50);
    expect(retryPauseMs(2, 0.5, undefined)).toBe(100);
    expect(retryPauseMs(20, 0.999, undefined)).toBeLessThan(BACKOFF.maxMs);
    expect(retryPauseMs(1, 0, 1_000)).toBe(1_000);
    expect(retryPauseMs(1, 0, BACKOFF.maxMs + 1)).toBeUndefined();
  });
});

describe('the bulkhead', () => {
  it('gives each place once and takes it back once', () => {
    const bulkheads = new Bulkheads();
    const of = { name: 'p', maxConcurrent: 1 };
    const release = bulkheads.enter(of);
    expect(bulkheads.enter(of)).toBeUndefined();
    release?.();
    release?.();
    expect(bulkheads.enter(of)).toBeDefined();
    expect(bulkheads.enter(of)).toBeUndefined();
    expect(bulkheads.enter({ ...of, name: 'q' })).toBeDefined();
  });
});

describe('usage that is believed', () => {
  const context = {
    maxCompletionTokens: 1_000,
    completions: 1,
    contextLength: 10_000,
    producedOutput: true,
  };

  it('never has a part above its whole', () => {
    const number = fc.oneof(fc.integer({ min: -5, max: 1_100 }), fc.double(), fc.constant(null));
    fc.assert(
      fc.property(number, number, number, number, number, (prompt, completion, cached, image, reasoning) => {
        const usage = believedUsage(
          {
            prompt_tokens: prompt,
            completion_tokens: completion,
            prompt_tokens_details: { cached_tokens: cached, image_tokens: image },
            completion_tokens_details: { reasoning_tokens: reasoning },
          },
          context,
        );
        if (!usage) return;
        expect(usage.cachedTokens + usage.imageTokens).toBeLessThanOrEqual(usage.promptTokens);
        expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.completionTokens);
        expect(usage.completionTokens).toBeLessThanOrEqual(context.maxCompletionTokens);
        for (const tokens of Object.values(usage))
          expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true);
      }),
      fuzzRuns(),
    );
  });

  it('counts reasoning in when the provider reports it beside the completion', () => {
    const usage = believedUsage(
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 22,
        completion_tokens_details: { reasoning_tokens: 7 },
      },
      context,
    );
    expect(usage).toMatchObject({ completionTokens: 12, reasoningTokens: 7 });
  });

  it('is zero output when nothing was produced', () => {
    const usage = believedUsage(
      { prompt_tokens: 10, completion_tokens: 0 },
      { ...context, producedOutput: false },
    );
    expect(usage).toMatchObject({ promptTokens: 10, completionTokens: 0 });
  });
});

describe("a provider's text", () => {
  it('loses what identifies an account, and "rate limit"', () => {
    const names = ['own', 'https://api.p.example/v1', 'api.p.example'];
    for (const [text, shown] of [
      ['key my-own-key is bad', 'key [removed] is bad'],
      ['see https://p.example/x?y=1 now', 'see [removed] now'],
      ['api.p.example said no', '[removed] said no'],
      [
        'organization org-AbCdEf123456 in project proj_Zz99887766',
        'organization [removed] in project [removed]',
      ],
      ['Incorrect API key: sk-abcdefghijkl', 'Incorrect API key: [removed]'],
      ['mail a.b@c.example', 'mail [removed]'],
      ['at 10.1.2.3:8080', 'at [removed]'],
      ['Rate-limit and rate_limit and RATE LIMIT', 'usage limit and usage limit and usage limit'],
      ['two\nlines\u0000', 'two lines'],
      ['model up-1 is full', 'model acme/m-1 is full'],
      ['an unknown group-1, up-10', 'an unknown group-1, up-10'],
      ['its own name', 'its [removed] name'],
      ['pinned to /srv/models/x@main', 'pinned to [removed]'],
    ]) {
      expect(
        publicText(text as string, { secrets: ['my-own-key'], names, renames: { 'up-1': 'acme/m-1' } }),
      ).toBe(shown);
    }
    expect(publicText(' \n')).toBeUndefined();
  });

  it('is bounded, and quick to bound whatever it holds', () => {
    for (const text of ['a-1'.repeat(100_000), 'a'.repeat(1e6), '://'.repeat(1e5), 'x@'.repeat(1e5)]) {
      expect((publicText(text) ?? '').length).toBeLessThanOrEqual(MAX_PUBLIC_TEXT_CHARACTERS);
    }
  });
});

it('maps every known finish reason, and takes an unknown one as an ordinary end', () => {
  for (const [reported, known] of [
    ['stop', 'stop'],
    ['end_turn', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['content_filter', 'content_filter'],
    ['SAFETY', 'content_filter'],
    ['whatever', 'stop'],
    ['constructor', 'stop'],
    [null, undefined],
    ['', undefined],
  ] as const) {
    expect(finishReasonOf(reported)).toBe(known);
  }
});
