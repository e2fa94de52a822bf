import { FrameKind, MalformedFrame } from './frame';
import { FrameReader } from './frame-reader';

const MAX_FRAME_BYTES = 1_000;

interface Frame {
  readonly kind: number;
  readonly callId: number;
  readonly body: string;
}

function wire({ kind, callId, body }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32LE(5 + Buffer.byteLength(body), 0);
  head[4] = kind;
  head.writeUInt32LE(callId, 5);
  return Buffer.concat([head, Buffer.from(body)]);
}

function readerOf(): { readonly reader: FrameReader; readonly frames: Frame[]; readonly bodies: Buffer[] } {
  const frames: Frame[] = [];
  const bodies: Buffer[] = [];
  const reader = new FrameReader(MAX_FRAME_BYTES, (kind, callId, body) => {
    bodies.push(body);
    frames.push({ kind, callId, body: body.toString() });
  });
  return { reader, frames, bodies };
}

describe('the frame reader', () => {
  const sent: Frame[] = [
    { kind: FrameKind.request, callId: 1, body: 'a request, äöü' },
    { kind: FrameKind.end, callId: 4_294_967_295, body: '' },
    { kind: FrameKind.answer, callId: 7, body: 'x'.repeat(300) },
    { kind: FrameKind.cut, callId: 8, body: '!' },
  ];
  const bytes = Buffer.concat(sent.map(wire));

  it('puts frames together however they were split in two', () => {
    for (let split = 0; split <= bytes.length; split += 1) {
      const { reader, frames } = readerOf();
      reader.push(bytes.subarray(0, split));
      reader.push(bytes.subarray(split));
      expect(frames).toEqual(sent);
    }
  });

  it.each([1, 2, 3, 5, 7, 64])('puts frames together that come in pieces of %i bytes', (size) => {
    const { reader, frames } = readerOf();
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    expect(frames).toEqual(sent);
  });

  it('copies no frame that came in one piece', () => {
    const { reader, bodies } = readerOf();
    reader.push(bytes);
    expect(bodies.map((body) => body.buffer === bytes.buffer)).toEqual([true, true, true, true]);
  });

  it('keeps a frame that came in several pieces apart from them', () => {
    const { reader, bodies } = readerOf();
    const copy = Buffer.from(bytes);
    reader.push(copy.subarray(0, 12));
    reader.push(copy.subarray(12));
    copy.fill(0);
    expect(bodies[0]?.toString()).toBe(sent[0]?.body);
  });

  it.each([0, 4, MAX_FRAME_BYTES + 1, 0xffff_ffff])('refuses a length of %i at once', (length) => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(length);
    expect(() => readerOf().reader.push(head)).toThrow(MalformedFrame);
    const { reader } = readerOf();
    reader.push(head.subarray(0, 3));
    expect(() => reader.push(head.subarray(3))).toThrow(MalformedFrame);
  });

  it('takes frames up to their limit', () => {
    const { reader, frames } = readerOf();
    reader.push(wire({ kind: FrameKind.message, callId: 1, body: 'x'.repeat(MAX_FRAME_BYTES - 5) }));
    expect(frames).toHaveLength(1);
  });
});
