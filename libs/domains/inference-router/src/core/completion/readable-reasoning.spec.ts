import { choiceDelta } from '../dialects/choice-delta';
import type { ChoiceDelta, EventDecoder, ReasoningDetail } from '../dialects/dialect';
import { openai } from '../dialects/openai';
import { completionsOf, type Choice } from './completion';
import { CompletionStream } from './completion-stream';
import { normalizedDecoder, normalizedResponse } from './normalize-response';

const head = { generationId: 'gen-1', createdUnixS: 1, modelId: 'acme/m' };
const SIGNER = 'aaaaaaaaaaaa';
const options = { isIdInRequest: () => false };

function streamed(decoder: EventDecoder, events: readonly string[]): Choice | undefined {
  const stream = new CompletionStream({
    head,
    n: 1,
    includeUsage: false,
    decoder: normalizedDecoder(decoder, options),
    signer: SIGNER,
    failureOf: () => {
      throw new Error('no event is an error');
    },
  });
  for (const event of events) stream.push(event);
  return stream.choices[0];
}

/** The details of a stream, and of the same deltas as one response. */
function detailsOf(...deltas: Partial<ChoiceDelta>[]): { streamed: unknown; whole: unknown } {
  const choices = deltas.map((delta) => choiceDelta(delta));
  const queue = choices.map((choice) => ({ choices: [choice] }));
  const decoder: EventDecoder = {
    decode: () => queue.shift() ?? { choices: [] },
    templateOf: () => undefined,
  };
  const joined = choiceDelta({
    content: choices.map(({ content }) => content ?? '').join('') || null,
    reasoning: choices.map(({ reasoning }) => reasoning ?? '').join('') || null,
    reasoningDetails: choices.flatMap(({ reasoningDetails = [] }) => reasoningDetails),
    finishReason: 'stop',
  });
  const { choices: read } = normalizedResponse({ choices: [joined], usage: undefined }, options);
  return {
    streamed: streamed(decoder, deltas.map(String))?.reasoningDetails,
    whole: completionsOf(read, head, SIGNER)[0]?.reasoningDetails,
  };
}

const both = (details: unknown) => ({ streamed: details, whole: details });
const thought: ReasoningDetail = { type: 'reasoning.text', index: 0, text: 'I think.', signature: 's' };
const encrypted: ReasoningDetail = { type: 'reasoning.encrypted', index: 0, data: 'd' };
const unsigned = { type: 'reasoning.text', text: 'I think.' };

describe('reasoning that its provider does not list', () => {
  it('is listed without a signature and without a signer when it ends', () => {
    const parts = [{ reasoning: 'I ' }, { reasoning: 'think.' }];
    expect(detailsOf(...parts, { content: 'Hi' }, { finishReason: 'stop' })).toEqual(both([unsigned]));
    expect(detailsOf(...parts, { finishReason: 'stop' })).toEqual(both([unsigned]));
  });

  it('is listed next to encrypted parts', () => {
    const signed = { ...encrypted, signed_by: SIGNER };
    expect(
      detailsOf(
        { reasoning: 'I think.' },
        { content: 'Hi', reasoningDetails: [encrypted] },
        { finishReason: 'stop' },
      ),
    ).toEqual(both([signed, unsigned]));
  });
});

it('reasoning that its provider lists is not listed again', () => {
  const signed = { ...thought, signed_by: SIGNER };
  expect(
    detailsOf(
      { reasoning: 'I think.' },
      { reasoningDetails: [thought] },
      { content: 'Hi' },
      { finishReason: 'stop' },
    ),
  ).toEqual(both([signed]));
});

describe('the details of OpenRouter', () => {
  const format = 'anthropic-claude-v1';
  const summary = { type: 'reasoning.summary', format: 'openai-responses-v1', id: 'rs_1', index: 0 };
  const listed = [
    { ...summary, summary: 'A plan.' },
    { type: 'reasoning.encrypted', format: 'openai-responses-v1', id: 'rs_1', index: 1, data: 'gAAA' },
    { type: 'reasoning.text', format, index: 2, text: 'I think.', signature: 's' },
  ];
  const kept = listed.map((detail) => ({ ...detail, signed_by: SIGNER }));

  it('reach the client with all that the next turn needs', () => {
    const message = { role: 'assistant', content: 'Hi', reasoning: 'I think.', reasoning_details: listed };
    const read = openai.readResponse({ choices: [{ message, finish_reason: 'stop' }] }, 1);
    const { choices } = normalizedResponse(read, options);
    expect(completionsOf(choices, head, SIGNER)[0]?.reasoningDetails).toEqual(kept);
  });

  it('are joined from the parts of a stream', () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] });
    const part = (detail: object) => chunk({ content: '', reasoning_details: [detail] });
    const events = [
      part({ ...summary, summary: 'A ' }),
      part({ ...summary, summary: 'plan.' }),
      part(listed[1] ?? {}),
      part({ type: 'reasoning.text', format, index: 2, text: 'I ' }),
      part({ type: 'reasoning.text', format, index: 2, text: 'think.' }),
      part({ type: 'reasoning.text', format, index: 2, signature: 's' }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
    ];
    const choice = streamed(openai.createDecoder(1), events);
    expect(choice?.reasoningDetails).toEqual(kept);
    expect(choice?.content).toBe('Hi');
  });
});
