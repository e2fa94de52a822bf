import { choiceDelta } from './choice-delta';
import type { ChoiceDelta } from './dialect';
import { anthropic } from './anthropic';
import { RestoredResponse } from './restore-response';
import { ToolNames } from './tool-names';

const rules = anthropic.rulesOf({ providerModel: 'claude-x', options: {} as never });
const of = (body: object) =>
  new RestoredResponse(Buffer.from(JSON.stringify({ messages: [], ...body })), rules);
const streamed = (body: object, deltas: readonly ChoiceDelta[]) => {
  let at = 0;
  const decoder = of(body).decoder({
    decode: () => ({ choices: [deltas[at++] as ChoiceDelta] }),
    templateOf: () => ({ before: '', after: '', index: 0 }),
  });
  return { read: deltas.map(() => decoder.decode('').choices[0] as ChoiceDelta), decoder };
};

it('gives tools the names of the request', () => {
  const body = { messages: [], tools: [{ type: 'function', function: { name: 'fs.read' } }] };
  const [sent] = new ToolNames(body, rules.toolNames).renamed(body)['tools'] as {
    function: { name: string };
  }[];
  const name = sent?.function.name ?? '';
  expect(name).not.toBe('fs.read');
  const call = { index: 0, id: 'c', name, arguments: '' };
  const { read } = streamed(body, [choiceDelta({ toolCalls: [call] })]);
  expect(read[0]?.toolCalls[0]?.name).toBe('fs.read');
  const whole = of(body).response({ choices: [choiceDelta({ toolCalls: [call] })], usage: undefined });
  expect(whole.choices[0]?.toolCalls[0]?.name).toBe('fs.read');
});

it('cuts the text before a stop sequence of white space, also across deltas', () => {
  const texts = ['a\n', 'b\n', '\nc', 'd'].map((content) => choiceDelta({ content }));
  const deltas = [...texts, choiceDelta({ finishReason: 'length' })];
  const { read, decoder } = streamed({ stop: ['END', '\n\n'] }, deltas);
  expect(read.map(({ content }) => content ?? '').join('')).toBe('a\nb');
  expect(read.at(-1)).toMatchObject({ finishReason: 'stop', stopSequence: '\n\n' });
  expect(decoder.templateOf('')).toBeUndefined();
  const whole = of({ stop: '\n' }).response({
    choices: [choiceDelta({ content: 'a\nb' })],
    usage: undefined,
  });
  expect(whole.choices[0]?.content).toBe('a');
});

it('loses no text where no stop sequence follows', () => {
  const deltas = [choiceDelta({ content: 'a\n' }), choiceDelta({ finishReason: 'stop' })];
  const { read } = streamed({ stop: '\n\n' }, deltas);
  expect(read.map(({ content }) => content ?? '').join('')).toBe('a\n');
  const others = streamed({ stop: ['END'] }, [choiceDelta({ content: 'a\n\nb' })]);
  expect(others.read[0]?.content).toBe('a\n\nb');
  expect(others.decoder.templateOf('')).toBeDefined();
});
