import fc from 'fast-check';
import {
  costOfUsage,
  maxPlausibleImageTokens,
  maxPlausiblePromptTokens,
  worstCaseCost,
  type InputEstimate,
  type Prices,
} from '@gateway/base';
import { fuzzRuns } from '@gateway/test-support';
import { readUsage } from '../dialects/openai/read-usage';
import { checkUsage, countedUsage, mayBeTooLow, promptBySize, type UsageContext } from './usage';

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
  isCut: false,
  producedOutput: true,
};

const accepted = (reported: object, changes: Partial<UsageContext> = {}) => {
  const checked = checkUsage(readUsage(reported), { ...context, ...changes });
  return checked.kind === 'accepted' ? checked.usage : undefined;
};

const prompt = (tokens: number, input: Partial<InputEstimate> = {}) =>
  accepted({ prompt_tokens: tokens, completion_tokens: 5 }, { input: { ...text, ...input } })?.promptTokens;

describe("a provider's count of the prompt", () => {
  it('is plausible up to twice the estimate plus 128 tokens', () => {
    expect(prompt(328)).toBe(328);
    expect(prompt(329)).toBeUndefined();
    expect(prompt(199_999)).toBeUndefined();
  });

  it('may be larger with definitions, which each provider renders in its own way', () => {
    expect(prompt(1_452, { hasDefinitions: true })).toBe(1_452);
    expect(prompt(1_453, { hasDefinitions: true })).toBeUndefined();
  });

  it('may be larger with images, by their estimate and number', () => {
    const images = { images: 2, estimatedImageTokens: 60 };
    expect(prompt(80 + 128 + 180 + 2_000, images)).toBe(2_388);
    expect(prompt(2_389, images)).toBeUndefined();
  });

  it('has no text allowance when there is no text', () => {
    const imageAlone = { estimatedInputTokens: 60, images: 1, estimatedImageTokens: 60 };
    expect(prompt(128 + 180 + 1_000, imageAlone)).toBe(1_308);
    expect(prompt(1_309, imageAlone)).toBeUndefined();
  });

  it('never exceeds the context window', () => {
    expect(accepted({ prompt_tokens: 301, completion_tokens: 5 }, { contextLength: 300 })).toBeUndefined();
    expect(accepted({ prompt_tokens: 300, completion_tokens: 5 }, { contextLength: 300 })).toBeDefined();
  });

  it('is rejected below a tenth of the estimate of its text', () => {
    const long = { estimatedInputTokens: 1_128 };
    expect(prompt(100, long)).toBe(100);
    expect(prompt(99, long)).toBeUndefined();
    expect(prompt(99, { ...long, images: 1, estimatedImageTokens: 200 })).toBe(99);
  });

  it('is charged by the size of what was sent where it is far above the estimate', () => {
    expect(promptBySize(82_000, 371_000, context)).toBe(82_000);
    expect(promptBySize(200_000, 371_000, context)).toBe(92_750);
    expect(promptBySize(200_000, 100, context)).toBe(100);
    expect(promptBySize(200_000, 371_000, { ...context, maxPromptTokens: 328 })).toBe(328);
  });

  it('is never charged above what the hold of a request with a maximum cost covers', () => {
    const usage = { prompt_tokens: 300, completion_tokens: 5 };
    expect(accepted(usage, { maxPromptTokens: 250 })?.promptTokens).toBe(250);
  });

  it('is never zero', () => {
    expect(prompt(0)).toBeUndefined();
    expect(prompt(1)).toBe(1);
  });

  it('depends on the estimate, and so on the factor of the model', () => {
    expect(prompt(700, { estimatedInputTokens: 500 })).toBe(700);
  });
});

describe('image tokens', () => {
  const usage = {
    prompt_tokens: 200,
    completion_tokens: 5,
    prompt_tokens_details: { image_tokens: 150 },
  };

  it('are zero when no image was sent', () => {
    expect(accepted(usage)).toMatchObject({ promptTokens: 200, imageTokens: 0 });
  });

  it('are those of the provider when an image was sent', () => {
    const input = { ...text, images: 1, estimatedImageTokens: 50 };
    expect(accepted(usage, { input })).toMatchObject({ promptTokens: 200, imageTokens: 150 });
  });

  it('are capped at the plausible maximum of the images', () => {
    const input = { ...text, estimatedInputTokens: 50_000, images: 1, estimatedImageTokens: 100 };
    const all = { ...usage, prompt_tokens: 50_000, prompt_tokens_details: { image_tokens: 50_000 } };
    expect(accepted(all, { input })).toMatchObject({ promptTokens: 50_000, imageTokens: 1_300 });
  });
});

describe('cached tokens', () => {
  it.each([
    [{ prompt_tokens_details: { cached_tokens: 7 } }],
    [{ cached_tokens: 7 }],
    [{ prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 3 }],
    [{ prompt_tokens_details: { cached_tokens: 7 }, cached_tokens: 8, prompt_cache_hit_tokens: 9 }],
  ])('are read as servers of the protocol report them: %j', (fields) => {
    expect(accepted({ prompt_tokens: 10, completion_tokens: 5, ...fields })?.cachedTokens).toBe(7);
  });
});

describe('the output', () => {
  it('is capped at the output limit, and rejected when it is far above', () => {
    expect(accepted({ prompt_tokens: 10, completion_tokens: 1_016 })?.completionTokens).toBe(1_000);
    expect(accepted({ prompt_tokens: 10, completion_tokens: 1_017 })).toBeUndefined();
  });

  it('is rejected when it is less than half of our own count', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 42 };
    expect(accepted(usage, { countedCompletionTokens: 100 })?.completionTokens).toBe(42);
    expect(accepted(usage, { countedCompletionTokens: 101 })).toBeUndefined();
  });

  it('is counted before a report is accepted that is low for its size', () => {
    const report = readUsage({ prompt_tokens: 10, completion_tokens: 10 });
    const isLow = (bytes: number, limit = 1_000) => report && mayBeTooLow(report, bytes, limit);
    expect([isLow(8 * 26), isLow(8 * 26 + 1)]).toEqual([false, true]);
    // Our count is at most the limit.
    expect(isLow(8 * 26 + 1, 36)).toBe(false);
  });

  it('is charged at most up to what an elastic hold covers', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 900 };
    expect(accepted(usage, { heldCompletionTokens: 80 })?.completionTokens).toBe(80);
  });

  it('includes reasoning that the provider reports in addition to the completion', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 22,
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    expect(accepted(usage)).toMatchObject({ completionTokens: 12, reasoningTokens: 7 });
  });

  it.each([
    [
      'its reasoning is part of the completion according to the total',
      15,
      7,
      { completionTokens: 5, reasoningTokens: 5 },
    ],
    ['there is no total', undefined, 3, { completionTokens: 5, reasoningTokens: 3 }],
    ['a single reasoning token is reported in addition', 16, 1, { completionTokens: 6, reasoningTokens: 1 }],
  ])('is taken from the provider when %s', (_what, total, reasoning, expected) => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: total,
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
    expect(accepted(usage)).toMatchObject(expected);
  });

  it('may be zero when nothing was produced', () => {
    const usage = accepted({ prompt_tokens: 10, completion_tokens: 0 }, { producedOutput: false });
    expect(usage).toMatchObject({ promptTokens: 10, completionTokens: 0 });
  });

  it('is rejected when it is unreadable, even if nothing was produced', () => {
    const unreadable = { prompt_tokens: 10, completion_tokens: -1 };
    expect(accepted(unreadable, { producedOutput: false })).toBeUndefined();
  });

  it('must not be zero when something was produced', () => {
    expect(accepted({ prompt_tokens: 10, completion_tokens: 0 })).toBeUndefined();
    expect(accepted({ prompt_tokens: 10, completion_tokens: 1 })?.completionTokens).toBe(1);
  });
});

it('treats missing details of an accepted block as zero', () => {
  const input = { ...text, images: 1, estimatedImageTokens: 50 };
  expect(accepted({ prompt_tokens: 10, completion_tokens: 5 }, { input })).toEqual({
    promptTokens: 10,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    imageTokens: 0,
    completionTokens: 5,
    reasoningTokens: 0,
  });
});

it('caps written tokens at the rest of the prompt after cached ones, before image tokens', () => {
  const report = {
    promptTokens: 100,
    cachedTokens: 40,
    cacheWriteTokens: 30,
    cacheWrite1hTokens: 50,
    imageTokens: 20,
    completionTokens: 5,
    reasoningTokens: 0,
  };
  expect(checkUsage(report, context)).toMatchObject({
    kind: 'accepted',
    usage: {
      promptTokens: 100,
      cachedTokens: 40,
      cacheWrite1hTokens: 50,
      cacheWriteTokens: 10,
      imageTokens: 0,
    },
  });
});

it('returns the readable numbers of a rejected block, and zero for the others', () => {
  const none = {
    promptTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    imageTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
  };
  const checkOf = (reported: unknown) => checkUsage(readUsage(reported), context);
  expect(checkOf({})).toEqual({ kind: 'rejected', reported: none });
  expect(checkOf({ total_tokens: 7, completion_tokens_details: { reasoning_tokens: 7 } })).toEqual({
    kind: 'rejected',
    reported: { ...none, reasoningTokens: 7 },
  });
  expect(checkOf({ prompt_tokens: 0xffff_ffff + 1, completion_tokens: 0xffff_ffff })).toEqual({
    kind: 'rejected',
    reported: { ...none, completionTokens: 0xffff_ffff },
  });
});

it('caps the counted output at the limit, and its parts at their whole', () => {
  const none = { cachedTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0, imageTokens: 0 };
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

it('distinguishes a missing block from a rejected one, and returns the reported numbers', () => {
  expect(checkUsage(readUsage(undefined), context)).toEqual({ kind: 'missing' });
  expect(checkUsage(readUsage(null), context)).toEqual({ kind: 'missing' });
  expect(checkUsage(readUsage('none'), context)).toMatchObject({
    kind: 'rejected',
    reported: { promptTokens: 0 },
  });
  expect(checkUsage(readUsage({ prompt_tokens: 199_999, completion_tokens: -1 }), context)).toMatchObject({
    kind: 'rejected',
    reported: { promptTokens: 199_999, completionTokens: 0 },
  });
});

describe('any reported usage', () => {
  const estimates = fc
    .record({
      text: fc.integer({ min: 0, max: 5_000 }),
      images: fc.integer({ min: 0, max: 3 }),
      perImage: fc.integer({ min: 0, max: 2_000 }),
      hasDefinitions: fc.boolean(),
    })
    .map(({ text: textTokens, images, perImage, hasDefinitions }): InputEstimate => {
      const estimatedImageTokens = images * perImage;
      return {
        estimatedInputTokens: textTokens + estimatedImageTokens,
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
    cacheWriteNanoUsdPerMillion: price,
    cacheWrite1hNanoUsdPerMillion: price,
    outputNanoUsdPerMillion: price,
    reasoningNanoUsdPerMillion: price,
    imageNanoUsdPerMillion: price,
    tiers: fc.constant([]),
  });

  it('has no part above its whole, and costs at most the worst case that the estimate allows', () => {
    fc.assert(
      fc.property(
        estimates,
        pricesOfAnyKind,
        fc.tuple(number, number, number, number, number, number),
        (input, prices, [promptTokens, completion, cached, written, image, reasoning]) => {
          const usage = accepted(
            {
              prompt_tokens: promptTokens,
              completion_tokens: completion,
              prompt_tokens_details: {
                cached_tokens: cached,
                cache_write_tokens: written,
                image_tokens: image,
              },
              completion_tokens_details: { reasoning_tokens: reasoning },
            },
            { input },
          );
          if (!usage) return;
          expect(usage.cachedTokens + usage.cacheWriteTokens + usage.imageTokens).toBeLessThanOrEqual(
            usage.promptTokens,
          );
          expect(usage.imageTokens).toBeLessThanOrEqual(maxPlausibleImageTokens(input));
          expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.completionTokens);
          for (const tokens of Object.values(usage))
            expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true);
          const allowed = worstCaseCost(
            maxPlausiblePromptTokens(input),
            context.maxCompletionTokens,
            prices,
            '5m',
          );
          expect(costOfUsage(usage, prices) <= allowed).toBe(true);
        },
      ),
      fuzzRuns(),
    );
  });
});

describe('a report without the output', () => {
  const report = {
    promptTokens: 90,
    cachedTokens: 40,
    cacheWriteTokens: 20,
    cacheWrite1hTokens: 10,
    imageTokens: 0,
    completionTokens: undefined,
    reasoningTokens: undefined,
  };

  it('of a stream that was cut still has the input', () => {
    expect(checkUsage(report, { ...context, isCut: true })).toEqual({
      kind: 'input_only',
      input: {
        promptTokens: 90,
        cachedTokens: 40,
        cacheWriteTokens: 20,
        cacheWrite1hTokens: 10,
        imageTokens: 0,
      },
    });
    expect(checkUsage({ ...report, completionTokens: 0 }, { ...context, isCut: true }).kind).toBe(
      'input_only',
    );
    expect(checkUsage({ ...report, promptTokens: 329 }, { ...context, isCut: true }).kind).toBe('rejected');
  });

  it('of a complete response is rejected', () => {
    expect(checkUsage(report, context).kind).toBe('rejected');
  });
});
