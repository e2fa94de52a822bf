import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { costOfUsage, pricesOf, usdNumber, type Usage } from '@gateway/base';
import { publishedPricesOf } from '../../core/price-data/published-prices';
import { findPriceData, nearestModels } from './price-data';

const ANTHROPIC = 'https://api.anthropic.com/v1';

describe('the price data', () => {
  it('is found by the address of the provider and any name of the model', () => {
    expect(findPriceData(ANTHROPIC, 'claude-sonnet-4-5-20250929')).toMatchObject({
      model: 'claude-sonnet-4-5',
      displayName: 'Claude Sonnet 4.5',
      contextWindow: 200_000,
    });
    expect(findPriceData('https://eu-aiplatform.googleapis.com/v1', 'gemini-2.5-flash')).toBeDefined();
    expect(findPriceData(ANTHROPIC, 'gpt-5')).toBeUndefined();
    expect(findPriceData('http://127.0.0.1:8000/v1', 'claude-sonnet-4-5')).toBeUndefined();
  });

  it('suggests the models with the nearest names, and only ones that it finds', () => {
    expect(nearestModels(ANTHROPIC, 'claude-sonnet4-5', 2)[0]).toBe('claude-sonnet-4-5');
    const bedrock = 'https://bedrock-runtime.eu-central-1.amazonaws.com';
    const suggested = nearestModels(bedrock, 'anthropic.claude', 20);
    expect(suggested).toHaveLength(20);
    expect(suggested.filter((name) => !findPriceData(bedrock, name))).toEqual([]);
    const fireworks = 'https://api.fireworks.ai/inference/v1';
    expect(nearestModels(fireworks, 'accounts/fireworks/models/deepseek-v4-prp', 1)).toEqual([
      'accounts/fireworks/models/deepseek-v4-pro',
    ]);
    expect(nearestModels('http://127.0.0.1:8000/v1', 'claude', 5)).toEqual([]);
  });
});

/** Prompt sizes on both sides of every tier of the data. */
const PROMPTS = [
  0, 1, 1000, 32_000, 32_001, 128_000, 128_001, 200_000, 200_001, 256_001, 271_999, 272_000, 900_000,
];
const DATES = ['2025-01-01', '2026-05-01', '2026-11-26', '2027-06-01'].map((date) => new Date(date));

function usageOf(promptTokens: number): Usage {
  const part = Math.floor(promptTokens / 7);
  return {
    promptTokens,
    cachedTokens: part,
    cacheWriteTokens: part,
    cacheWrite1hTokens: part * 2,
    imageTokens: 0,
    completionTokens: 3000,
    reasoningTokens: 1000,
  };
}

it.each(['anthropic', 'aws', 'google', 'groq', 'mistral', 'openai', 'x-ai'])(
  'the converted prices of %s charge what the package calculates, at every prompt size and date',
  (providerId) => {
    let compared = 0;
    for (const model of findProvider({ providerId })?.models ?? []) {
      // A price per request is reported, not converted. Some names of the package do not find their own model.
      if (JSON.stringify(model.prices).includes('requests_kcount')) continue;
      for (const timestamp of DATES) {
        const result = publishedPricesOf(model.prices, timestamp);
        if (!result.ok) continue;
        for (const prompt of PROMPTS) {
          const usage = usageOf(prompt);
          const expected = calcPrice(
            {
              input_tokens: prompt,
              cache_read_tokens: usage.cachedTokens,
              cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
              cache_write_1h_tokens: usage.cacheWrite1hTokens,
              output_tokens: usage.completionTokens,
              output_reasoning_tokens: usage.reasoningTokens,
            },
            model.id,
            { providerId, timestamp },
          );
          if (expected?.model.id !== model.id) continue;
          const cost = usdNumber(costOfUsage(usage, pricesOf(result.published.prices)));
          // The cost is rounded up to a nano-dollar; prices of the data with more than nine digits are rounded too.
          expect(Math.abs(cost - expected.total_price)).toBeLessThan(3e-9);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(500);
  },
);
