import { replayChunks } from './replay-chunks';

const HEAD = { id: 'gen-1', created: 1, model: 'acme/m-1' };

function chunksOf(completion: object, includeUsage = false): Record<string, unknown>[] {
  return replayChunks(
    Buffer.from(JSON.stringify({ ...HEAD, object: 'chat.completion', ...completion })),
    includeUsage,
  )
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as Record<string, unknown>);
}

it('converts tool calls to deltas with an index', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call] };
  const chunks = chunksOf({
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }],
    usage: {},
  });
  expect(chunks.map((chunk) => chunk['choices'])).toEqual([
    [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    [
      {
        index: 0,
        delta: { content: null, tool_calls: [{ index: 0, ...call }] },
        logprobs: null,
        finish_reason: null,
      },
    ],
    [{ index: 0, delta: {}, logprobs: null, finish_reason: 'tool_calls' }],
  ]);
  expect(chunks.some((chunk) => 'usage' in chunk || 'error' in chunk)).toBe(false);
});

it('puts the system fingerprint on every chunk, if there is one', () => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  for (const chunk of chunksOf({ choices, usage: {}, system_fingerprint: 'fp_1' }, true)) {
    expect(chunk['system_fingerprint']).toBe('fp_1');
  }
  for (const chunk of chunksOf({ choices, usage: {} }, true))
    expect(chunk).not.toHaveProperty('system_fingerprint');
});

it('replays reasoning, refusals and several choices', () => {
  const message = { role: 'assistant', content: 'No', refusal: 'I refuse', reasoning_content: 'Hm' };
  const chunks = chunksOf({
    choices: [0, 1].map((index) => ({ index, message, logprobs: { content: [] }, finish_reason: 'stop' })),
  });
  expect(chunks).toHaveLength(6);
  expect(chunks[4]).toMatchObject({
    choices: [
      {
        index: 1,
        delta: { content: 'No', refusal: 'I refuse', reasoning_content: 'Hm' },
        logprobs: { content: [] },
      },
    ],
  });
});
