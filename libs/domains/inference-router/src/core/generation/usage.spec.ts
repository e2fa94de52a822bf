import fc from 'fast-check';
import { costOfUsage, worstCaseCost, type Prices } from '@gateway/base';
import { fuzzRuns } from '@gateway/test-support';
import {
  countedUsage,
  judgeUsage,
  maxBelievedImageTokens,
  maxBelievedPromptTokens,
  type InputEstimate,
  type UsageContext,
} from './usage';

const text: InputEstimate = {
  estimatedInputTokens: 100,
  images: 0,
  estimatedImageTokens: 0,
  hasDefinitions: false,
};

const context: UsageContext = {
  input: text,
  maxCompletionTokens: 1_000,
  completions: 1,
  contextLength: 200_000,
  producedOutput: true,
};

const believed = (reported: object, changes: Partial<UsageContext> = {}) => {
  const judged = judgeUsage(reported, { ...context, ...changes });
  return judged.kind === 'believed' ? judged.usage : undefined;
};

const prompt = (tokens: number, input: Partial<InputEstimate> = {}) =>
  believed({ prompt_tokens: tokens, completion_tokens: 5 }, { input: { ...text, ...input } })?.promptTokens;

describe("a provider's count of the prompt", () => {
  it('is believed up to twice the estimate and 128, and not a token beyond', () => {
    expect(prompt(328)).toBe(328);
    expect(prompt(329)).toBeUndefined();
    expect(prompt(199_999)).toBeUndefined();
  });

  it('may be larger with definitions, which every provider words in its own way', () => {
    expect(prompt(1_452, { hasDefinitions: true })).toBe(1_452);
    expect(prompt(1_453, { hasDefinitions: true })).toBeUndefined();
  });

  it('may be larger with images, by the estimate of the images and their number', () => {
    const images = { images: 2, estimatedImageTokens: 60 };
    expect(prompt(80 + 128 + 180 + 2_000, images)).toBe(2_388);
    expect(prompt(2_389, images)).toBeUndefined();
  });

  it('allows for no text where there is none', () => {
    const imageAlone = { estimatedInputTokens: 60, images: 1, estimatedImageTokens: 60 };
    expect(prompt(128 + 180 + 1_000, imageAlone)).toBe(1_308);
    expect(prompt(1_309, imageAlone)).toBeUndefined();
  });

  it('never exceeds the context window', () => {
    expect(believed({ prompt_tokens: 301, completion_tokens: 5 }, { contextLength: 300 })).toBeUndefined();
    expect(believed({ prompt_tokens: 300, completion_tokens: 5 }, { contextLength: 300 })).toBeDefined();
  });

  it('is never nothing', () => {
    expect(prompt(0)).toBeUndefined();
    expect(prompt(1)).toBe(1);
  });

  it('goes by the estimate, and so by the factor of a model that counts otherwise', () => {
    expect(prompt(700, { estimatedInputTokens: 500 })).toBe(700);
  });
});

describe('image tokens', () => {
  const usage = {
    prompt_tokens: 200,
    completion_tokens: 5,
    prompt_tokens_details: { image_tokens: 150 },
  };

  it('are none when no image was sent', () => {
    expect(believed(usage)).toMatchObject({ promptTokens: 200, imageTokens: 0 });
  });

  it('are as many as the provider says when one was', () => {
    const input = { ...text, images: 1, estimatedImageTokens: 50 };
    expect(believed(usage, { input })).toMatchObject({ promptTokens: 200, imageTokens: 150 });
  });

  it('are no more than the images can have come to', () => {
    const input = { ...text, estimatedInputTokens: 50_000, images: 1, estimatedImageTokens: 100 };
    const all = { ...usage, prompt_tokens: 50_000, prompt_tokens_details: { image_tokens: 50_000 } };
    expect(believed(all, { input })).toMatchObject({ promptTokens: 50_000, imageTokens: 1_300 });
  });
});

describe('the output', () => {
  it('is cut to the limit that was sent, and not believed when it is far beyond', () => {
    expect(believed({ prompt_tokens: 10, completion_tokens: 1_016 })?.completionTokens).toBe(1_000);
    expect(believed({ prompt_tokens: 10, completion_tokens: 1_017 })).toBeUndefined();
  });

  it('has reasoning counted in when the provider reports it beside the completion', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 22,
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    expect(believed(usage)).toMatchObject({ completionTokens: 12, reasoningTokens: 7 });
  });

  it.each([
    [
      'its reasoning is part of the completion, as the total says',
      15,
      7,
      { completionTokens: 5, reasoningTokens: 5 },
    ],
    ['its total says nothing of reasoning', undefined, 3, { completionTokens: 5, reasoningTokens: 3 }],
    ['a single token of reasoning is beside it', 16, 1, { completionTokens: 6, reasoningTokens: 1 }],
  ])('is as the provider says when %s', (_what, total, reasoning, expected) => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: total,
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
    expect(believed(usage)).toMatchObject(expected);
  });

  it('is zero when nothing was produced', () => {
    const usage = believed({ prompt_tokens: 10, completion_tokens: 0 }, { producedOutput: false });
    expect(usage).toMatchObject({ promptTokens: 10, completionTokens: 0 });
  });

  it('is not believed when it cannot be read, though nothing was produced', () => {
    const unreadable = { prompt_tokens: 10, completion_tokens: -1 };
    expect(believed(unreadable, { producedOutput: false })).toBeUndefined();
  });

  it('is not believed to be zero when something was produced', () => {
    expect(believed({ prompt_tokens: 10, completion_tokens: 0 })).toBeUndefined();
    expect(believed({ prompt_tokens: 10, completion_tokens: 1 })?.completionTokens).toBe(1);
  });
});

it('takes what a believed block does not mention for none', () => {
  const input = { ...text, images: 1, estimatedImageTokens: 50 };
  expect(believed({ prompt_tokens: 10, completion_tokens: 5 }, { input })).toEqual({
    promptTokens: 10,
    cachedTokens: 0,
    imageTokens: 0,
    completionTokens: 5,
    reasoningTokens: 0,
  });
});

it('tells of a block that cannot be read what can be read of it, and none of the rest', () => {
  const none = { promptTokens: 0, cachedTokens: 0, imageTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const saidBy = (reported: unknown) => judgeUsage(reported, context);
  expect(saidBy({})).toEqual({ kind: 'not_believed', reported: none });
  expect(saidBy({ total_tokens: 7, completion_tokens_details: { reasoning_tokens: 7 } })).toEqual({
    kind: 'not_believed',
    reported: { ...none, completionTokens: 7, reasoningTokens: 7 },
  });
  expect(saidBy({ prompt_tokens: 0xffff_ffff + 1, completion_tokens: 0xffff_ffff })).toEqual({
    kind: 'not_believed',
    reported: { ...none, completionTokens: 0xffff_ffff },
  });
});

it('counts here what was produced, never above the limit, and with no part above its whole', () => {
  const none = { cachedTokens: 0, imageTokens: 0 };
  expect(countedUsage(10, 5, 3, 100)).toEqual({
    ...none,
    promptTokens: 10,
    completionTokens: 5,
    reasoningTokens: 3,
  });
  expect(countedUsage(10, 500, 300, 100)).toEqual({
    ...none,
    promptTokens: 10,
    completionTokens: 100,
    reasoningTokens: 100,
  });
});

it('tells a block that is missing from one that is not believed, and what that one said', () => {
  expect(judgeUsage(undefined, context)).toEqual({ kind: 'missing' });
  expect(judgeUsage(null, context)).toEqual({ kind: 'missing' });
  expect(judgeUsage('none', context)).toMatchObject({ kind: 'not_believed', reported: { promptTokens: 0 } });
  expect(judgeUsage({ prompt_tokens: 199_999, completion_tokens: -1 }, context)).toMatchObject({
    kind: 'not_believed',
    reported: { promptTokens: 199_999, completionTokens: 0 },
  });
});

describe('whatever a provider reports', () => {
  const estimates = fc
    .record({
      text: fc.integer({ min: 0, max: 5_000 }),
      images: fc.integer({ min: 0, max: 3 }),
      perImage: fc.integer({ min: 0, max: 2_000 }),
      hasDefinitions: fc.boolean(),
    })
    .map(({ text: ofText, images, perImage, hasDefinitions }): InputEstimate => {
      const estimatedImageTokens = images * perImage;
      return {
        estimatedInputTokens: ofText + estimatedImageTokens,
        images,
        estimatedImageTokens,
        hasDefinitions,
      };
    });
  const number = fc.oneof(
    fc.integer({ min: -5, max: 1_100 }),
    fc.integer({ min: 0, max: 200_000 }),
    fc.double(),
    fc.constant(null),
  );
  const price = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
  const pricesOfAnyKind: fc.Arbitrary<Prices> = fc.record({
    inputNanoUsdPerMillion: price,
    cachedInputNanoUsdPerMillion: price,
    outputNanoUsdPerMillion: price,
    reasoningNanoUsdPerMillion: price,
    imageNanoUsdPerMillion: price,
  });

  it('no part is above its whole, and the cost not above the worst case of what the estimate allows', () => {
    fc.assert(
      fc.property(
        estimates,
        pricesOfAnyKind,
        fc.tuple(number, number, number, number, number),
        (input, prices, [promptTokens, completion, cached, image, reasoning]) => {
          const usage = believed(
            {
              prompt_tokens: promptTokens,
              completion_tokens: completion,
              prompt_tokens_details: { cached_tokens: cached, image_tokens: image },
              completion_tokens_details: { reasoning_tokens: reasoning },
            },
            { input },
          );
          if (!usage) return;
          expect(usage.cachedTokens + usage.imageTokens).toBeLessThanOrEqual(usage.promptTokens);
          expect(usage.imageTokens).toBeLessThanOrEqual(maxBelievedImageTokens(input));
          expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.completionTokens);
          for (const tokens of Object.values(usage))
            expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true);
          const allowed = worstCaseCost(maxBelievedPromptTokens(input), context.maxCompletionTokens, prices);
          expect(costOfUsage(usage, prices) <= allowed).toBe(true);
        },
      ),
      fuzzRuns(),
    );
  });
});
