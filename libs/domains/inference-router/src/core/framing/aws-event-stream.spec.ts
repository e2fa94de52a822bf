import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { MAX_EVENT_BYTES } from './sse-parser';
import { UpstreamFailure } from '../failure/upstream-failure';
import { eventFrame, exceptionFrame, frameOf } from '../../testing/event-stream-frames';
import { AwsEventStreamParser } from './aws-event-stream';

/** The events until the end or the first failure. */
function parse(parts: readonly Uint8Array[]): { events: string[]; failure: unknown } {
  const parser = new AwsEventStreamParser();
  const events: string[] = [];
  try {
    for (const part of parts) events.push(...parser.push(part));
    events.push(...parser.end());
    return { events, failure: undefined };
  } catch (failure) {
    return { events, failure };
  }
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
}

const three = Buffer.concat([
  eventFrame('messageStart', { role: 'assistant' }),
  eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße 👋' } }),
  eventFrame('messageStop', { stopReason: 'end_turn' }),
]);
const threeEvents = [
  '{"messageStart":{"role":"assistant"}}',
  '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"Grüße 👋"}}}',
  '{"messageStop":{"stopReason":"end_turn"}}',
];

describe('the parser of AWS event streams', () => {
  it('returns the same events for any split of the bytes', () => {
    expect(parse([three])).toEqual({ events: threeEvents, failure: undefined });
    expect(parse([...three].map((byte) => Buffer.of(byte)))).toEqual({
      events: threeEvents,
      failure: undefined,
    });
    for (let at = 0; at <= three.length; at += 1) {
      expect(parse([three.subarray(0, at), three.subarray(at)]).events).toEqual(threeEvents);
    }
  });

  it('names an exception by its type, and an error without payload as the body of an HTTP error', () => {
    const error = frameOf(
      { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Oops' },
      '',
    );
    expect(parse([exceptionFrame('throttlingException', { message: 'Slow down' }), error]).events).toEqual([
      '{"throttlingException":{"message":"Slow down"}}',
      '{"__type":"InternalError","message":"Oops"}',
    ]);
  });

  it.each([
    ['at the end', '{"delta":{"text":"a"},"p":"abcXYZ019"}', '{"delta":{"text":"a"}}'],
    ['that is empty', '{"delta":{"text":"a"},"p":""}', '{"delta":{"text":"a"}}'],
    ['only where it is one', '{"delta":{"text":",\\"p\\":\\"abc"}}', '{"delta":{"text":",\\"p\\":\\"abc"}}'],
    ['not at the start', '{"p":"abc","role":"assistant"}', '{"p":"abc","role":"assistant"}'],
    ['not with other characters', '{"role":"x","p":"a\\"b"}', '{"role":"x","p":"a\\"b"}'],
    ['not within a text', '{"text":"a,\\"p\\":\\"b\\"}"}', '{"text":"a,\\"p\\":\\"b\\"}"}'],
  ])('removes a padding %s', (_case, payload, expected) => {
    expect(parse([eventFrame('e', payload)]).events).toEqual([`{"e":${expected}}`]);
  });

  it('keeps every payload the same JSON without its padding', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 })), (payload) => {
        delete payload['p'];
        const padded = { ...payload, p: 'abcdef' };
        for (const sent of [payload, padded]) {
          const [event] = parse([eventFrame('e', sent)]).events;
          const read = (JSON.parse(event ?? '') as { e: Record<string, unknown> }).e;
          delete read['p'];
          expect(read).toEqual(JSON.parse(JSON.stringify(payload)));
        }
      }),
      fuzzRuns(),
    );
  });

  it('fails for a frame with any changed byte, after the events before it, for any split', () => {
    const first = eventFrame('messageStart', { role: 'assistant' });
    fc.assert(
      fc.property(
        fc.nat({ max: three.length - first.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        (offset, flip, places) => {
          const garbled = Buffer.from(three);
          const at = first.length + offset;
          garbled[at] = (garbled[at] ?? 0) ^ flip;
          const { events, failure } = parse(cut(garbled, places));
          expect(failure).toBeInstanceOf(UpstreamFailure);
          expect((failure as UpstreamFailure).kind).toBe('failed');
          expect(events).toEqual(threeEvents.slice(0, events.length));
          expect(events.length).toBeGreaterThanOrEqual(1);
          expect(events.length).toBeLessThan(3);
        },
      ),
      fuzzRuns(),
    );
  });

  it('fails for arbitrary bytes, or waits for the rest of a frame that may be valid', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const { events, failure } = parse([bytes]);
        expect(events).toEqual([]);
        expect(failure).toBeInstanceOf(UpstreamFailure);
      }),
      fuzzRuns(),
    );
  });

  it('fails for a stream that ends within a frame', () => {
    for (let at = 1; at < three.length; at += 1) {
      const { events, failure } = parse([three.subarray(0, at)]);
      const atBoundary = failure === undefined;
      if (!atBoundary) expect(String(failure)).toContain('ended within a frame');
      expect(events).toEqual(threeEvents.slice(0, events.length));
    }
    expect(parse([three.subarray(0, three.length - 1)]).failure).toBeInstanceOf(UpstreamFailure);
  });

  it('accepts a frame of the maximum length, and refuses a longer one before its bytes arrive', () => {
    const overhead = eventFrame('e', '').length;
    const longest = eventFrame('e', 'x'.repeat(MAX_EVENT_BYTES - overhead));
    expect(longest).toHaveLength(MAX_EVENT_BYTES);
    const parts: Buffer[] = [];
    for (let at = 0; at < longest.length; at += 1000) parts.push(longest.subarray(at, at + 1000));
    expect(parse(parts).events).toHaveLength(1);

    const longer = eventFrame('e', 'x'.repeat(MAX_EVENT_BYTES - overhead + 1));
    const parser = new AwsEventStreamParser();
    expect(() => parser.push(longer.subarray(0, 4))).toThrow(`${MAX_EVENT_BYTES + 1} bytes`);
    expect(() => parser.push(longer.subarray(4))).toThrow(UpstreamFailure);
    expect(() => parser.end()).toThrow(UpstreamFailure);
  });

  it('fails for a frame without a message type', () => {
    expect(parse([frameOf({ ':event-type': 'e' }, '{}')]).failure).toBeInstanceOf(UpstreamFailure);
  });
});
