import { parseUsd } from '@gateway/base';
import { z } from 'zod';

export const MAX_TOKENS = 100_000_000;
const MAX_USD_PER_MILLION = 100_000;
const MAX_PRICE_TIERS = 8;
const MAX_PRICE_CHANGES = 8;

export const tokens = z.int().min(1).max(MAX_TOKENS);

/** US dollars per million tokens, as nano-dollars per million tokens. */
const price = z
  .string({ error: 'must be US dollars per million tokens as a quoted decimal, such as "0.15"' })
  .transform((text, context) => {
    const amount = parseUsd(text);
    if (amount === undefined || amount < 0n || amount > BigInt(MAX_USD_PER_MILLION) * 1_000_000_000n) {
      context.addIssue({
        code: 'custom',
        message: `must be a decimal from "0" to "${MAX_USD_PER_MILLION}" with at most nine digits after the point`,
      });
      return z.NEVER;
    }
    return amount as bigint;
  });

const tokenPriceFields = {
  input: price.describe('US dollars per million input tokens, such as 0.15.'),
  cached_input: price
    .optional()
    .describe('US dollars per million input tokens that the provider read from its cache. Default: input.'),
  cache_write: price
    .optional()
    .describe(
      'US dollars per million input tokens that the provider wrote to its cache for five minutes, or for its only lifetime. Default: input.',
    ),
  cache_write_1h: price
    .optional()
    .describe(
      'US dollars per million input tokens that the provider wrote to its cache for one hour. Default: cache_write.',
    ),
  output: price.describe('US dollars per million output tokens. Not for embedding models.'),
  reasoning: price.optional().describe('US dollars per million reasoning tokens. Default: output.'),
  image: price.optional().describe('US dollars per million input tokens of images. Default: input.'),
};

export const priceFields = {
  ...tokenPriceFields,
  tiers: z
    .array(
      z.strictObject({
        above: tokens.describe('Prompt tokens above which the tier applies.'),
        ...tokenPriceFields,
      }),
    )
    .max(MAX_PRICE_TIERS)
    .refine(
      (tiers) => tiers.every(({ above }, index) => index === 0 || above > (tiers[index - 1]?.above ?? 0)),
      'must be in ascending order of "above"',
    )
    .optional()
    .describe('Prices for long prompts. The last tier that applies sets the prices of the whole request.'),
};

export const priceChanges = z
  .array(
    z.strictObject({
      from: z.iso
        .datetime({ error: 'must be a time in UTC, such as "2027-01-01T00:00:00Z"' })
        .describe('A time in UTC, such as 2027-01-01T00:00:00Z.'),
      ...priceFields,
    }),
  )
  .max(MAX_PRICE_CHANGES)
  .refine(
    (changes) =>
      changes.every(
        ({ from }, index) => index === 0 || Date.parse(from) > Date.parse(changes[index - 1]?.from ?? ''),
      ),
    'must be in ascending order of "from"',
  );
