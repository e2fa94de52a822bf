import { readUsage } from './read-usage';

const counts = { prompt_tokens: 1_000, completion_tokens: 10 };

describe('cached tokens', () => {
  it.each([
    [{ prompt_tokens_details: { cached_tokens: 700 } }],
    [{ cached_tokens: 700 }],
    [{ prompt_cache_hit_tokens: 700, prompt_cache_miss_tokens: 300 }],
    [{ cache_read_input_tokens: 700 }],
    [{ prompt_tokens_details: { cached_tokens: 0 }, cache_read_input_tokens: 700 }],
  ])('are read from %j', (names) => {
    expect(readUsage({ ...counts, ...names })).toMatchObject({ promptTokens: 1_000, cachedTokens: 700 });
  });

  it('are added to a prompt that does not include them', () => {
    const separate = { prompt_tokens: 100, cache_read_input_tokens: 700, cache_creation_input_tokens: 200 };
    expect(readUsage({ ...counts, ...separate })).toMatchObject({
      promptTokens: 1_000,
      cachedTokens: 700,
      cacheWriteTokens: 200,
    });
  });

  it('are zero where that is reported, and unknown where it is not', () => {
    expect(readUsage({ ...counts, prompt_tokens_details: { cached_tokens: 0 } })?.cachedTokens).toBe(0);
    expect(readUsage(counts)?.cachedTokens).toBeUndefined();
  });
});

it.each([
  [{ prompt_tokens_details: { cache_write_tokens: 200 } }, 200, undefined],
  [{ prompt_tokens_details: { cache_creation_tokens: 200 } }, 200, undefined],
  [{ cache_creation_input_tokens: 200 }, 200, undefined],
  [
    {
      prompt_tokens_details: {
        cache_creation_tokens: 200,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
      },
    },
    50,
    150,
  ],
])('written tokens are read from %j', (names, fiveMinutes, oneHour) => {
  expect(readUsage({ ...counts, ...names })).toMatchObject({
    cacheWriteTokens: fiveMinutes,
    cacheWrite1hTokens: oneHour,
  });
});

it.each([
  ['included, without a total', 8, undefined, 10],
  ['included, as the total shows', 8, 1_010, 10],
  ['in addition, as the total shows', 8, 1_018, 18],
  ['in addition, as their number shows', 40, undefined, 50],
])('reasoning tokens are %s', (_case, reasoning, total, completion) => {
  const usage = {
    ...counts,
    completion_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total,
  };
  expect(readUsage(usage)).toMatchObject({ completionTokens: completion, reasoningTokens: reasoning });
});
