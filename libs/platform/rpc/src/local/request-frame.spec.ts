import fc from 'fast-check';
import { MalformedFrame } from './frame';
import { MAX_METADATA_BYTES } from './local-limits';
import { metadataLines, readRequest, requestHead } from './request-frame';

function crossed(method: number, timeoutMs: number | undefined, metadata: Record<string, string>) {
  return readRequest(
    Buffer.concat([requestHead(method, timeoutMs, metadataLines(metadata)), Buffer.from('payload')]),
  );
}

describe('a request frame', () => {
  it('carries method, time, metadata and payload', () => {
    const metadata = { traceparent: '00-ab-cd-01', 'x-request-id': 'a: b', empty: '' };
    const request = crossed(513, 1_234, metadata);
    expect({ ...request, payload: request.payload.toString() }).toEqual({
      method: 513,
      timeoutMs: 1_234,
      metadata,
      payload: 'payload',
    });
    expect(crossed(0, undefined, {})).toMatchObject({ method: 0, timeoutMs: undefined, metadata: {} });
  });

  it.each([
    [0.2, 1],
    [10.5, 11],
    [1e15, 0xffff_fffe],
  ])('of %d ms has whole milliseconds left, and never none', (given, read) => {
    expect(crossed(1, given, {}).timeoutMs).toBe(read);
  });

  it('refuses metadata beyond its limit', () => {
    expect(() => metadataLines({ long: 'x'.repeat(MAX_METADATA_BYTES) })).toThrow(
      expect.objectContaining({ code: 'internal_error' }),
    );
  });

  it('that is cut off or garbled is malformed, or read as something else, and nothing worse', () => {
    const whole = Buffer.concat([requestHead(1, 5, metadataLines({ a: 'b' })), Buffer.from('payload')]);
    for (let length = 0; length < 11; length += 1) {
      expect(() => readRequest(whole.subarray(0, length))).toThrow(MalformedFrame);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          expect(readRequest(Buffer.from(bytes)).payload.length).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedFrame);
        }
      }),
    );
  });
});
