import fc from 'fast-check';
import { fuzzRuns } from '@gateway/testing';
import { believedUsage } from './usage';

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
