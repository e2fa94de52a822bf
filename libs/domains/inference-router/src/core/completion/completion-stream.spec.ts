import { choiceDelta } from '../dialects/choice-delta';
import fc from 'fast-check';
import { collectGarbage, fuzzRuns, unicodeText } from '@gateway/test-support';
import { renderCompletion, completionsOf } from './completion';
import { CompletionStream } from './completion-stream';
import type { ChoiceDelta, DecodedEvent, ProviderError, ReasoningDetail } from '../dialects/dialect';
import { openai } from '../dialects/openai';
import { UpstreamFailure } from '../failure/upstream-failure';

const head = { generationId: 'gen-1', createdUnixS: 1, modelId: 'acme/m-1' };

const failureOf = ({ message }: ProviderError) => new UpstreamFailure('failed', { detail: message });

const NOTHING: ChoiceDelta = {
  index: 0,
  content: null,
  refusal: null,
  reasoning: null,
  toolCalls: [],
  logprobs: null,
  finishReason: undefined,
};

function streamOf(n = 1, includeUsage = false): CompletionStream {
  const decoder = openai.createDecoder(n);
  return new CompletionStream({ head, n, includeUsage, decoder, signer: undefined, failureOf });
}

const delta = (content: object, index = 0, finish: string | null = null): string =>
  JSON.stringify({ id: 'x', choices: [{ index, delta: content, finish_reason: finish }] });

interface Chunk {
  choices: { index: number; delta: Record<string, unknown>; logprobs: unknown; finish_reason: unknown }[];
}

const read = (frame: string): Chunk => JSON.parse(frame.slice('data: '.length)) as Chunk;

function completionOf(stream: CompletionStream): { choices: { message: Record<string, unknown> }[] } {
  return JSON.parse(renderCompletion(head, stream.choices, {})) as ReturnType<typeof completionOf>;
}

describe('a stream of chunks', () => {
  it('names the stop sequence that ended it, as the response does', () => {
    const choices = [choiceDelta({ content: 'a', finishReason: 'stop', stopSequence: 'END' })];
    const decoder = { decode: () => ({ choices }), templateOf: () => undefined };
    const options = { head, n: 1, includeUsage: false, decoder, signer: undefined, failureOf };
    const stream = new CompletionStream(options);
    const ending = { finish_reason: 'stop', stop_sequence: 'END' };
    expect(read(stream.push(''))).toMatchObject({ choices: [ending] });
    expect(completionOf(stream)).toMatchObject({ choices: [ending] });
  });

  it('reports which of several completions have finished', () => {
    const stream = streamOf(3);
    for (const index of [0, 2]) stream.push(delta({ content: 'Hi' }, index));
    expect(stream.finishedChoices).toEqual([]);
    stream.push(delta({}, 2, 'stop'));
    expect(stream.finishedChoices).toEqual([2]);
  });

  it('adds up to the text of the provider, for all characters and on both paths', () => {
    const text = fc.oneof(
      unicodeText({ maxLength: 30 }),
      fc.constantFrom('"', '\\', '\n', '\u2028', '\ud83d', '\ude00', '[DONE]', '"}}]}', '\u0000'),
    );
    const few = fc.array(text, { minLength: 1, maxLength: 12 });
    // More than the fast path collects before it decodes.
    const many = fc
      .tuple(few, fc.integer({ min: 1, max: 60 }))
      .map(([texts, times]) => Array(times).fill(texts).flat());
    const manyTexts = fc.oneof({ weight: 4, arbitrary: few }, { weight: 1, arbitrary: many });
    fc.assert(
      fc.property(manyTexts, fc.boolean(), (texts, includeUsage) => {
        const stream = streamOf(1, includeUsage);
        let seen = '';
        for (const content of texts) {
          const frame = stream.push(delta({ content }));
          if (frame === '') continue;
          if (!frame.endsWith('\n\n') || frame.slice(0, -2).includes('\n'))
            throw new Error('incomplete event');
          const chunk = read(frame);
          if ('usage' in chunk !== includeUsage) throw new Error('usage does not match include_usage');
          seen += String(chunk.choices[0]?.delta['content']);
        }
        expect(seen).toBe(texts.join(''));
        expect(completionOf(stream).choices[0]?.message['content']).toBe(texts.join(''));
      }),
      fuzzRuns(),
    );
  });

  it('uses little more memory than its text, for any number of chunks', () => {
    const heapBytes = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const chunks = 100_000;
    const stream = streamOf();
    // Each event is a separate string, like those of a connection.
    const event = (number: number): string =>
      Buffer.from(delta({ content: ` token${number % 10}` })).toString();
    stream.push(event(0));
    const before = heapBytes();
    for (let number = 1; number < chunks; number += 1) stream.push(event(number));
    const bytesPerChunk = (heapBytes() - before) / chunks;
    expect(stream.choices[0]?.content).toHaveLength(chunks * 7);
    // A concatenated string that is never flattened uses about 60 bytes per part.
    expect(bytesPerChunk).toBeLessThan(20);
  });

  it('assembles tool calls from their deltas, for clients and replays', () => {
    const stream = streamOf();
    const call = (index: number, more: object) => delta({ tool_calls: [{ index, ...more }] });
    stream.push(delta({ role: 'assistant', content: null }));
    const first = stream.push(call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }));
    stream.push(call(0, { function: { arguments: '{"x"' } }));
    stream.push(call(0, { function: { arguments: ':1}' } }));
    stream.push(call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }));
    stream.push(delta({}, 0, 'tool_calls'));
    expect(read(first).choices[0]?.delta).toEqual({
      tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
    });
    expect(completionOf(stream).choices[0]).toMatchObject({
      message: {
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    });
  });

  it('counts tool calls from 0 in their order, also of a server that counts other parts of the message', () => {
    const stream = streamOf(2);
    const call = (index: number, more: object, choice = 0) =>
      delta({ tool_calls: [{ index, ...more }] }, choice);
    const first = stream.push(call(1, { id: 'a', function: { name: 'f', arguments: '' } }));
    stream.push(call(3, { id: 'b', function: { name: 'g', arguments: '{}' } }));
    stream.push(call(3, { id: 'c', function: { name: 'h', arguments: '{}' } }, 1));
    const later = stream.push(call(1, { function: { arguments: '{}' } }));
    const indexes = [first, later].map((frame) => read(frame).choices[0]?.delta['tool_calls']);
    expect(indexes).toMatchObject([[{ index: 0 }], [{ index: 0 }]]);
    expect(completionOf(stream).choices.map(({ message }) => message['tool_calls'])).toMatchObject([
      [
        { id: 'a', function: { arguments: '{}' } },
        { id: 'b', function: { arguments: '{}' } },
      ],
      [{ id: 'c', function: { arguments: '{}' } }],
    ]);
  });

  it('separates tool calls of one index by their ids, and leaves the parts of a call together', () => {
    const stream = streamOf();
    const call = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
    const start = (id: string, text: string) => ({ id, function: { name: 'f', arguments: text } });
    const frames = [
      stream.push(
        delta({ tool_calls: [start('a', '{"x":'), start('b', '{}')].map((c) => ({ index: 0, ...c })) }),
      ),
      stream.push(call(start('c', '{"y"'))),
      stream.push(call({ function: { arguments: ':2}' } })),
      // Servers that repeat the start of a call, or create an id for each delta.
      stream.push(call(start('a', '1'))),
      stream.push(call({ id: 'a', function: { arguments: '}' } })),
      stream.push(call(start('d', '{'))),
      stream.push(call({ id: 'e', function: { arguments: '}' } })),
    ];
    const indexes = frames.map((frame) =>
      (read(frame).choices[0]?.delta['tool_calls'] as { index: number }[]).map(({ index }) => index),
    );
    expect(indexes).toEqual([[0, 1], [2], [2], [0], [0], [3], [3]]);
    expect(completionOf(stream).choices[0]?.message['tool_calls']).toMatchObject([
      { id: 'a', function: { arguments: '{"x":1}' } },
      { id: 'b', function: { arguments: '{}' } },
      { id: 'c', function: { arguments: '{"y":2}' } },
      { id: 'd', function: { arguments: '{}' } },
    ]);
  });

  it('accepts tool calls without an index, without an id, and with an object as arguments', () => {
    const stream = streamOf();
    stream.push(delta({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: { x: 1 } } }] }));
    stream.push(delta({ tool_calls: [{ id: 'b', function: { name: 'g' } }] }));
    stream.push(delta({ tool_calls: [{ function: { arguments: '{}' } }] }));
    expect(completionOf(stream).choices[0]?.message['tool_calls']).toMatchObject([
      { id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'b', function: { name: 'g', arguments: '{}' } },
    ]);
  });

  it('sends the start of a tool call with its name, also of a server that sends the name later', () => {
    const stream = streamOf();
    const push = (called: object, more: object = {}) => {
      const frame = stream.push(delta({ tool_calls: [{ index: 0, function: called, ...more }] }));
      return frame === '' ? undefined : read(frame).choices[0]?.delta['tool_calls'];
    };
    stream.push(delta({ role: 'assistant' }));
    expect(push({ name: '', arguments: '{"x"' }, { id: 'a' })).toBeUndefined();
    expect(push({ arguments: ':' })).toBeUndefined();
    expect(push({ name: 'f', arguments: '1' })).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1' } },
    ]);
    expect(push({ name: 'f', arguments: '}' })).toEqual([{ index: 0, function: { arguments: '}' } }]);
    expect(completionOf(stream).choices[0]?.message['tool_calls']).toMatchObject([
      { id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
    ]);
  });

  it.each([
    ['in its last chunk', () => delta({}, 0, 'tool_calls')],
    ['after the last chunk', () => undefined],
  ])('sends a tool call that never got a name when the completion finishes %s', (_, lastChunk) => {
    const stream = streamOf();
    for (const text of ['{"x":', '1}']) {
      const frame = stream.push(
        delta({ tool_calls: [{ index: 0, id: 'a', function: { name: '', arguments: text } }] }),
      );
      expect(frame).not.toContain('tool_calls');
    }
    const chunk = lastChunk();
    const [choice] = read(chunk === undefined ? stream.closeOpenChoices() : stream.push(chunk)).choices;
    const call = { id: 'a', type: 'function', function: { name: '', arguments: '{"x":1}' } };
    expect(choice).toMatchObject({
      delta: { tool_calls: [{ index: 0, ...call }] },
      finish_reason: 'tool_calls',
    });
    expect(completionOf(stream).choices[0]?.message['tool_calls']).toEqual([call]);
  });

  it('separates several completions and drops those that were not requested', () => {
    const stream = streamOf(2);
    for (const [index, content] of [
      [1, 'b'],
      [0, 'a'],
      [1, 'B'],
      [2, 'no'],
      [0, 'A'],
      [1, '!'],
      [1, '!'],
    ] as const) {
      stream.push(delta({ content }, index));
    }
    stream.push(delta({}, 0, 'stop'));
    expect(stream.complete).toBe(false);
    stream.push(delta({}, 1, 'length'));
    expect(stream.complete).toBe(true);
    expect(completionOf(stream).choices).toMatchObject([
      { index: 0, message: { content: 'aA' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'bB!!' }, finish_reason: 'length' },
    ]);
  });

  it('parses a chunk that only resembles the previous one', () => {
    const stream = streamOf();
    for (const content of ['a', 'b', 'c']) stream.push(delta({ content }));
    expect(read(stream.push(delta({ content: 'd', reasoning: 'e' }))).choices[0]?.delta).toEqual({
      content: 'd',
      reasoning_content: 'e',
    });
    stream.push(delta({ content: 'f' }));
    expect(() => stream.push(delta({ content: 'g' }).replace('"g"', '"g\u0001"'))).toThrow(UpstreamFailure);
    expect(completionOf(stream).choices[0]?.message).toMatchObject({
      content: 'abcdf',
      reasoning_content: 'e',
    });
  });

  it('reads the usage of a server that reports it in the last choice, if there is one choice', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const last = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] });
    const one = streamOf();
    one.push(last);
    expect(one.reportedUsage).toMatchObject({ promptTokens: 10, completionTokens: 5 });
    const two = streamOf(2);
    two.push(last);
    expect(two.reportedUsage).toBeUndefined();
  });

  it('returns reasoning under one name and joins log probabilities', () => {
    const stream = streamOf();
    expect(read(stream.push(delta({ reasoning: 'hm' }))).choices[0]?.delta).toEqual({
      role: 'assistant',
      content: '',
      reasoning_content: 'hm',
    });
    stream.push(delta({ reasoning_content: 'm' }));
    for (const token of ['a', 'b']) {
      stream.push(
        JSON.stringify({
          choices: [{ index: 0, delta: { content: token }, logprobs: { content: [{ token }], x: 1 } }],
        }),
      );
    }
    expect(completionOf(stream).choices[0]).toMatchObject({
      message: { reasoning_content: 'hmm', content: 'ab' },
      logprobs: { content: [{ token: 'a' }, { token: 'b' }], refusal: null },
    });
  });

  it('reads reasoning in parts of the content', () => {
    const thinking = [
      { type: 'text', text: 'Let me ' },
      { type: 'text', text: 'think.' },
    ];
    const content = [
      { type: 'thinking', thinking },
      { type: 'text', text: 'Yes.' },
    ];
    const stream = streamOf();
    stream.push(delta({ role: 'assistant', content: '' }));
    const frame = stream.push(delta({ content: content.slice(0, 1) }));
    expect(read(frame).choices[0]?.delta).toEqual({ reasoning_content: 'Let me think.' });
    stream.push(delta({ content: content.slice(1) }));
    const message = { role: 'assistant', content: 'Yes.', reasoning_content: 'Let me think.' };
    expect(completionOf(stream).choices[0]?.message).toMatchObject(message);
    const response = openai.readResponse({ choices: [{ index: 0, message: { content } }] }, 1);
    expect(response.choices[0]).toMatchObject({ content: 'Yes.', reasoning: 'Let me think.' });
  });

  it('adds the system fingerprint to all chunks after its first occurrence, on both paths', () => {
    const chunk = (content: string, fingerprint?: unknown) =>
      JSON.stringify({ system_fingerprint: fingerprint, choices: [{ index: 0, delta: { content } }] });
    const stream = streamOf(1, true);
    const frames = [
      chunk('a'),
      chunk('b', ''),
      chunk('c', 'fp_1'),
      chunk('d', 'fp_1'),
      chunk('e', 'fp_1'),
      chunk('f', 'fp_2'),
      chunk('g'),
    ].map((data) => stream.push(data));
    frames.push(stream.push(delta({}, 0, 'stop')), stream.usageChunk({}));
    expect(
      frames.map((frame) => (read(frame) as object as Record<string, unknown>)['system_fingerprint']),
    ).toEqual([undefined, undefined, ...Array<string>(7).fill('fp_1')]);
    expect(frames.every((frame) => 'usage' in read(frame))).toBe(true);
    expect(stream.systemFingerprint).toBe('fp_1');
    expect(completionOf(stream).choices[0]?.message['content']).toBe('abcdefg');
  });

  it('drops a fingerprint that is too long, unprintable or not a string', () => {
    for (const fingerprint of ['', 'x'.repeat(129), 'fp\n1', 'fp\u202e', 'fpü', 7, null, { a: 1 }]) {
      const stream = streamOf();
      const frame = stream.push(
        JSON.stringify({ system_fingerprint: fingerprint, choices: [{ index: 0, delta: { content: 'a' } }] }),
      );
      expect('system_fingerprint' in read(frame)).toBe(false);
      expect(stream.systemFingerprint).toBeUndefined();
    }
  });

  it('sends nothing for empty chunks', () => {
    const stream = streamOf();
    stream.push(delta({ content: 'a' }));
    expect(stream.push(delta({}))).toBe('');
    expect(stream.push(delta({ content: '' }))).toBe('');
    expect(stream.push(JSON.stringify({ choices: [] }))).toBe('');
    expect(stream.push(JSON.stringify({ choices: [], usage: { prompt_tokens: 1 } }))).toBe('');
    expect(stream.reportedUsage).toMatchObject({ promptTokens: 1 });
  });

  it('rejects payloads that are not chunks', () => {
    for (const data of ['', 'x', '[]', 'null', '{}', '{"choices":[1]}', '{"choices":[{"index":-1}]}']) {
      expect(() => streamOf().push(data)).toThrow(UpstreamFailure);
    }
  });

  it('passes the extra content of tool calls on, with the call or after it', () => {
    const stream = streamOf();
    const signature = { google: { thought_signature: 'CiQB' } };
    const call = { index: 0, id: 'a', function: { name: 'f', arguments: '{' }, extra_content: signature };
    const first = read(stream.push(delta({ tool_calls: [call] }))).choices[0];
    expect(first?.delta['tool_calls']).toEqual([{ ...call, type: 'function' }]);
    stream.push(delta({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }));
    const later = { google: { thought_signature: 'CiQBcs' } };
    const last = read(stream.push(delta({ tool_calls: [{ index: 0, extra_content: later }] }))).choices[0];
    expect(last?.delta['tool_calls']).toEqual([{ index: 0, extra_content: later }]);
    expect(completionOf(stream).choices[0]?.message['tool_calls']).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content: later },
    ]);
  });

  it('joins the parts of a reasoning detail, and passes each on', () => {
    const parts: readonly ReasoningDetail[] = [
      { type: 'reasoning.text', index: 0, text: 'Let me ' },
      { type: 'reasoning.text', index: 0, text: 'think.' },
      { type: 'reasoning.text', index: 0, signature: 'EqQB' },
      { type: 'reasoning.encrypted', index: 1, data: 'gAAA' },
      { type: 'reasoning.text', index: 2, text: 'Yes.' },
    ];
    const events: DecodedEvent[] = parts.map((detail) => ({
      choices: [{ ...NOTHING, reasoningDetails: [detail] }],
    }));
    const decoder = { decode: () => events.shift() as DecodedEvent, templateOf: () => undefined };
    const signer = undefined;
    const stream = new CompletionStream({ head, n: 1, includeUsage: false, decoder, signer, failureOf });
    const sent = parts.map(() => read(stream.push('{}')).choices[0]?.delta['reasoning_details']);
    expect(sent).toEqual(parts.map((part) => [part]));
    expect(completionOf(stream).choices[0]?.message['reasoning_details']).toEqual([
      { type: 'reasoning.text', index: 0, text: 'Let me think.', signature: 'EqQB' },
      parts[3],
      parts[4],
    ]);
  });

  it('name the target that signed them, in chunks and in the response', () => {
    const signature = { google: { thought_signature: 'sig' } };
    const call = { index: 0, id: 'c', name: 'f', arguments: '{}', extraContent: signature };
    const detail = { type: 'reasoning.text', index: 0, text: 'Hm.', signature: 'EqQB' } as const;
    const event = { choices: [{ ...NOTHING, reasoningDetails: [detail], toolCalls: [call] }] };
    const decoder = { decode: () => event, templateOf: () => undefined };
    const signer = 'aaaaaaaaaaaa';
    const stream = new CompletionStream({ head, n: 1, includeUsage: false, decoder, signer, failureOf });
    const signed = {
      reasoning_details: [{ ...detail, signed_by: signer }],
      tool_calls: [expect.objectContaining({ extra_content: { ...signature, signed_by: signer } })],
    };
    expect(read(stream.push('{}')).choices[0]?.delta).toMatchObject(signed);
    expect(completionOf(stream).choices[0]?.message).toMatchObject(signed);
    const [whole] = completionsOf(event.choices, head, signer);
    expect(whole?.reasoningDetails).toEqual(signed.reasoning_details);
    expect(whole?.toolCalls[0]?.extraContent).toEqual({ ...signature, signed_by: signer });
  });
});
