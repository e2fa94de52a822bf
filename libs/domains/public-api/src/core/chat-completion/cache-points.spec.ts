import type { JsonValue } from '../json/json-value';
import {
  ableModel,
  accepted,
  chatBody,
  forwarded,
  openPolicy,
  quarterCounter,
  validate,
  verdict,
} from '../testing/chat-fixtures';
import type { ModelView } from './types';
import { validateChatRequest } from './validate-chat-request';

const ephemeral = { type: 'ephemeral' };
const oneHour = { type: 'ephemeral', ttl: '1h' };
const explicit = { mode: 'explicit' };
const part = (text: string, point: Record<string, JsonValue> = {}) => ({ type: 'text', text, ...point });
const tool = { type: 'function', function: { name: 'f' } };

function bodyOf(messages: JsonValue[], more: Record<string, JsonValue> = {}) {
  return forwarded(validate(chatBody({ messages, ...more })));
}

describe('cache points', () => {
  it('on parts and tools are forwarded as cache_control, in the terms of Anthropic or OpenAI', () => {
    const messages = [
      { role: 'system', content: [part('a', { cache_control: oneHour }), part('b')] },
      { role: 'user', content: [part('c', { prompt_cache_breakpoint: explicit })] },
    ];
    expect(bodyOf(messages, { tools: [{ ...tool, cache_control: ephemeral }] })).toEqual({
      messages: [
        { role: 'system', content: [part('a', { cache_control: oneHour }), part('b')] },
        { role: 'user', content: [part('c', { cache_control: ephemeral })] },
      ],
      tools: [{ ...tool, cache_control: ephemeral }],
    });
  });

  it('on messages move to the last part', () => {
    const messages: JsonValue[] = [
      { role: 'system', content: 'a', cache_control: oneHour },
      { role: 'user', content: [part('b'), part('c')], prompt_cache_breakpoint: explicit },
      { role: 'assistant', content: 'd', cache_control: null },
      { role: 'user', content: '', cache_control: ephemeral },
    ];
    expect(bodyOf(messages)).toEqual({
      messages: [
        { role: 'system', content: [part('a', { cache_control: oneHour })] },
        { role: 'user', content: [part('b'), part('c', { cache_control: ephemeral })] },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: '' },
      ],
    });
  });

  it('beyond four are dropped: the last four count, and tools come first', () => {
    const messages = ['a', 'b', 'c', 'd'].map((text) => ({
      role: 'user',
      content: [part(text, { cache_control: ephemeral })],
    }));
    expect(bodyOf(messages, { tools: [{ ...tool, cache_control: oneHour }] })).toEqual({
      messages,
      tools: [tool],
    });
  });

  it('are dropped for a model without prompt_cache', () => {
    const messages = [
      { role: 'user', content: [part('a', { cache_control: ephemeral })], prompt_cache_breakpoint: explicit },
    ];
    expect(bodyOf(messages, { model: 'acme/plain' })).toEqual({
      messages: [{ role: 'user', content: [part('a')] }],
    });
  });

  it.each([
    [{ cache_control: { type: 'persistent' } }, 'messages[0].content[0].cache_control.type'],
    [{ cache_control: { type: 'ephemeral', ttl: '2h' } }, 'messages[0].content[0].cache_control.ttl'],
    [
      { prompt_cache_breakpoint: { mode: 'implicit' } },
      'messages[0].content[0].prompt_cache_breakpoint.mode',
    ],
  ])('of another form are refused: %j', (point, param) => {
    const messages = [{ role: 'user', content: [part('a', point)] }];
    expect(verdict(validate(chatBody({ messages })))).toBe(`invalid_request ${param}`);
  });
});

describe('the hold of a request that can write to the prompt cache', () => {
  // In US dollars per million tokens: input 3, writes 7 and 9, output 15.
  const dearWrites: ModelView = {
    ...ableModel,
    prices: {
      ...ableModel.prices,
      cacheWriteNanoUsdPerMillion: 7_000_000_000n,
      cacheWrite1hNanoUsdPerMillion: 9_000_000_000n,
      imageNanoUsdPerMillion: 0n,
      reasoningNanoUsdPerMillion: 15_000_000_000n,
    },
    writesCacheImplicitly: false,
  };
  // 94 tokens of text and 6 of the message are 100, plus 10 %; and one output token.
  const WITHOUT_WRITES = 110n * 3_000n + 15_000n;
  const WITH_WRITES = 110n * 7_000n + 15_000n;
  const WITH_1H_WRITES = 110n * 9_000n + 15_000n;

  const held = (point: Record<string, JsonValue>, model: ModelView) => {
    const body = chatBody({
      messages: [{ role: 'user', content: [part('x'.repeat(4 * 94), point)] }],
      max_tokens: 1,
    });
    const result = validateChatRequest(body, {
      policy: openPolicy,
      findModel: () => model,
      tokenCounter: quarterCounter,
    });
    if (result instanceof Promise) throw new Error('the counter of this test is synchronous');
    return accepted(result).heldCostNanoUsd;
  };

  it('covers the price of writes for the longest lifetime', () => {
    expect(held({}, dearWrites)).toBe(WITHOUT_WRITES);
    expect(held({ cache_control: ephemeral }, dearWrites)).toBe(WITH_WRITES);
    expect(held({ prompt_cache_breakpoint: explicit }, dearWrites)).toBe(WITH_WRITES);
    expect(held({ cache_control: oneHour }, dearWrites)).toBe(WITH_1H_WRITES);
  });

  it('covers the writes that a model makes without points', () => {
    const implicit = { ...dearWrites, writesCacheImplicitly: true };
    expect(held({}, implicit)).toBe(WITH_WRITES);
    expect(held({ cache_control: oneHour }, implicit)).toBe(WITH_1H_WRITES);
  });

  it('does not count points that the model does not get', () => {
    expect(held({ cache_control: oneHour }, { ...dearWrites, capabilities: [] })).toBe(WITHOUT_WRITES);
  });
});
