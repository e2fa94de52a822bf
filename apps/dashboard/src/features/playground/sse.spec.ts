import { EMPTY_COMPLETION, applyChunk } from './completion';
import { eventsOf } from './sse';

function bodyOf(...parts: readonly string[]): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(bytes.encode(part));
      controller.close();
    },
  });
}

async function read(...parts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const data of eventsOf(bodyOf(...parts))) found.push(data);
  return found;
}

it('parses events across chunk boundaries', async () => {
  const text = ': comment\n\ndata: {"a":1}\n\ndata: two\ndata: lines\r\n\r\ndata: [DONE]\n\n';
  const whole = await read(text);
  expect(whole).toEqual(['{"a":1}', 'two\nlines', '[DONE]']);
  expect(await read(...text)).toEqual(whole);
});

it('assembles text and tool calls from chunks', () => {
  const chunks = [
    { id: 'gen-1', choices: [{ delta: { content: 'Let me ' } }] },
    {
      choices: [
        {
          delta: {
            content: 'look.',
            tool_calls: [{ index: 0, function: { name: 'weather', arguments: '' } }],
          },
        },
      ],
    },
    { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"place":' } }] } }] },
    {
      choices: [
        {
          delta: { tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] },
          finish_reason: 'tool_calls',
        },
      ],
    },
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 5, cost: 0.0015 } },
  ];
  const completion = chunks.reduce(
    (before, chunk, index) => applyChunk(before, chunk, 100 * (index + 1)),
    EMPTY_COMPLETION,
  );
  expect(completion).toMatchObject({
    text: 'Let me look.',
    toolCalls: [{ name: 'weather', arguments: '{"place":"Bern"}' }],
    finishReason: 'tool_calls',
    generationId: 'gen-1',
    cost: 0.0015,
    tokens: { input: 3, output: 5 },
    firstTokenMs: 100,
  });
});
