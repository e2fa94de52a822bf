import { nanoUsd } from '@gateway/base';
import { accepted, chatBody, validate } from '../testing/chat-fixtures';
import { heldCostOf } from './held-cost';
import { lowerToMaxCost } from './lower-to-max-cost';

const validated = () => accepted(validate(chatBody({ max_tokens: 1_000 })));

it('leaves a request that the maximum covers as it is', () => {
  const chat = validated();
  expect(lowerToMaxCost(chat, chat.heldCostNanoUsd)).toBe(chat);
});

it.each([1, 2, 500, 999])('lowers the output limit to the %i tokens that the maximum covers', (tokens) => {
  const chat = validated();
  const lowered = lowerToMaxCost(chat, heldCostOf(chat, tokens));
  expect(lowered).toMatchObject({ maxOutputTokens: tokens, heldCostNanoUsd: heldCostOf(chat, tokens) });
  const almost = lowerToMaxCost(chat, nanoUsd(heldCostOf(chat, tokens + 1) - 1n));
  expect(almost.maxOutputTokens).toBe(tokens);
});

it('keeps the cost above a maximum that does not cover one token of output', () => {
  const chat = validated();
  const maxCost = nanoUsd(heldCostOf(chat, 1) - 1n);
  const lowered = lowerToMaxCost(chat, maxCost);
  expect(lowered.maxOutputTokens).toBe(1);
  expect(lowered.heldCostNanoUsd > maxCost).toBe(true);
});
