import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import type { JsonObject } from '../json/json-value';
import { type CompletionConsumer, CompletionReader } from './completion-reader';

const ignore = () => undefined;

/** Reads deltas of calls, and returns the calls in the order in which the consumer got them. */
function callsOf(deltas: readonly JsonObject[]): { id: string; arguments: string }[] {
  const calls: { id: string; arguments: string }[] = [];
  let isOpen = false;
  const consumer: CompletionConsumer = {
    ...{ reasoning: ignore, signed: ignore, text: ignore, refusal: ignore, extraOfCall: ignore },
    ...{ finish: ignore, usage: ignore },
    startCall(id) {
      if (isOpen) throw new Error(`${id} starts within another call`);
      isOpen = true;
      calls.push({ id, arguments: '' });
    },
    callArguments(text) {
      calls[calls.length - 1]!.arguments += text;
    },
    endCall() {
      isOpen = false;
    },
  };
  const reader = new CompletionReader(consumer);
  for (const call of deltas)
    reader.read({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] });
  reader.read({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
  expect(isOpen).toBe(false);
  return calls;
}

const start = (index: number): JsonObject => ({ index, id: `call_${index}`, function: { name: 'f' } });
const part = (index: number, text: string): JsonObject => ({ index, function: { arguments: text } });

it('passes on one call at a time, however their deltas are interleaved', () => {
  const object = fc
    .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
    .map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(
      fc.array(object, { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat()),
      (texts, choices) => {
        const waiting = texts.map((text, index) => ({ index, parts: text.match(/.{1,3}/gsu) ?? [] }));
        const deltas = texts.map((_, index) => start(index));
        while (waiting.some(({ parts }) => parts.length > 0)) {
          const left = waiting.filter(({ parts }) => parts.length > 0);
          const { index, parts } = left[choices.next().value % left.length]!;
          deltas.push(part(index, parts.shift() ?? ''));
        }
        const expected = texts.map((text, index) => ({ id: `call_${index}`, arguments: text }));
        expect(callsOf(deltas)).toEqual(expected);
      },
    ),
    fuzzRuns(),
  );
});

it('looks at each character of the arguments once', () => {
  const parse = jest.spyOn(JSON, 'parse');
  const parts = Array.from({ length: 1_000 }, (_, at) => part(at % 2, '}{'));
  callsOf([start(0), start(1), part(0, '{"a":"'), part(1, '{"a":"'), ...parts, part(0, '"}'), part(1, '"}')]);
  expect(parse).not.toHaveBeenCalled();
});
