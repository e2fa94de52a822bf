import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { MAX_EVENT_BYTES, SseParser, SseTooLongError } from './sse-parser';

function parse(parts: readonly Uint8Array[]): string[] {
  const parser = new SseParser();
  return [...parts.flatMap((part) => parser.push(part)), ...parser.end()];
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
}

const newline = fc.constantFrom('\n', '\r\n', '\r');
const lineText = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .map((text) => text.replace(/[\r\n]/g, '').replace(/^[ \uFEFF]+/, ''));

const event = fc.record({
  lines: fc.array(lineText, { minLength: 1, maxLength: 3 }),
  noise: fc.constantFrom('', ': keep-alive', 'event: message', 'id: 7', 'retry: 10', 'nonsense', 'datax: no'),
  space: fc.boolean(),
  end: newline,
});

describe('the server-sent events parser', () => {
  it('returns the same events for any split of the bytes and any line ending', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        (events, places, bom) => {
          const text = events
            .map(
              ({ lines, noise, space, end }) =>
                [
                  ...(noise ? [noise] : []),
                  ...lines.map((line) => `data:${space ? ' ' : ''}${line}`),
                  '',
                ].join(end) + end,
            )
            .join('');
          const bytes = Buffer.from(`${bom ? '\uFEFF' : ''}${text}`);
          expect(parse(cut(bytes, places))).toEqual(events.map(({ lines }) => lines.join('\n')));
        },
      ),
      fuzzRuns(),
    );
  });

  it('returns the same events byte by byte', () => {
    const bytes = Buffer.from('\uFEFFdata: é👩‍👩‍👧\r\n\r\n: note\r\rdata\ndata: b\n\ndata:[DONE]\n\n');
    expect(parse([...bytes].map((byte) => Buffer.of(byte)))).toEqual(['é👩‍👩‍👧', '\nb', '[DONE]']);
  });

  it('returns a last event without its blank line', () => {
    expect(parse([Buffer.from('data: a\n\ndata: b')])).toEqual(['a', 'b']);
    expect(parse([Buffer.from('data: a\n')])).toEqual(['a']);
  });

  it('rejects an endless event, in one line or many', () => {
    const line = Buffer.alloc(64 * 1024, 0x61);
    const parser = new SseParser();
    expect(() => {
      for (let sent = 0; sent <= MAX_EVENT_BYTES; sent += line.length) parser.push(line);
    }).toThrow(SseTooLongError);
    const many = new SseParser();
    const data = Buffer.from(`data: ${'a'.repeat(1_000)}\n`);
    expect(() => {
      for (let sent = 0; sent <= MAX_EVENT_BYTES; sent += 1_000) many.push(data);
    }).toThrow(SseTooLongError);
  });
});
