import { Writable } from 'node:stream';
import fc from 'fast-check';
import { FrameKind } from './frame';
import { FrameReader } from './frame-reader';
import { FrameWriter } from './frame-writer';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Takes what it is given when it is told to, and looks at it only then, as a kernel whose buffer was full. */
class SlowSink extends Writable {
  readonly writes: Buffer[] = [];
  #take: (() => void) | undefined;

  constructor(private readonly isSlow: () => boolean) {
    super({ decodeStrings: false, highWaterMark: 1 });
  }

  override _write(piece: Buffer, _: unknown, done: () => void): void {
    this._writev([{ chunk: piece }], done);
  }

  override _writev(pieces: { chunk: Buffer }[], done: () => void): void {
    const take = (): void => {
      this.#take = undefined;
      this.writes.push(Buffer.concat(pieces.map(({ chunk }) => chunk)));
      done();
    };
    if (this.isSlow()) this.#take = take;
    else take();
  }

  takeOne(): boolean {
    this.#take?.();
    return this.#take !== undefined || this.writableLength > 0;
  }
}

function bodiesOf(writes: readonly Buffer[]): string[] {
  const bodies: string[] = [];
  const reader = new FrameReader(2 ** 30, (_, callId, body) => bodies.push(`${callId} ${body}`));
  for (const write of writes) reader.push(write);
  return bodies;
}

describe('the frame writer', () => {
  it('sends all frames of a turn in one write', async () => {
    const sink = new SlowSink(() => false);
    const writer = new FrameWriter(sink);
    for (let id = 1; id <= 1_000; id += 1) {
      writer.frame(FrameKind.answer, id, Buffer.from(`the answer to ${id}`));
      // One turn of the event loop has many callbacks.
      if (id % 10 === 0) await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    await turn();
    expect(sink.writes).toHaveLength(1);
    expect(bodiesOf(sink.writes)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `${index + 1} the answer to ${index + 1}`),
    );
    writer.frame(FrameKind.answer, 1, Buffer.from('later'));
    await turn();
    expect(sink.writes).toHaveLength(2);
  });

  it.each([16_374, 16_375, 16_376])(
    'fills its block to the last byte: a fourth frame of %i',
    async (last) => {
      const sink = new SlowSink(() => false);
      const writer = new FrameWriter(sink);
      // With its head of nine bytes a quarter of the block.
      const quarter = 16_384 - 9;
      const sizes = [quarter, quarter, quarter, last, 1];
      for (const [id, size] of sizes.entries()) writer.frame(FrameKind.answer, id, Buffer.alloc(size, 'x'));
      await turn();
      expect(bodiesOf(sink.writes)).toEqual(sizes.map((size, id) => `${id} ${'x'.repeat(size)}`));
    },
  );

  it('puts what precedes a payload before it, copied or not', async () => {
    const sink = new SlowSink(() => false);
    const writer = new FrameWriter(sink);
    const long = Buffer.alloc(100_000, 'x');
    writer.frame(FrameKind.request, 1, Buffer.from('short'), Buffer.from('head '));
    writer.frame(FrameKind.request, 2, long, Buffer.from('head '));
    await turn();
    expect(bodiesOf(sink.writes)).toEqual(['1 head short', `2 head ${long.toString()}`]);
  });

  it('sends every frame once, whole and in order, however slowly it is taken', async () => {
    const step = fc.record({ sizes: fc.array(fc.integer({ min: 0, max: 40_000 })), isTaken: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.infiniteStream(fc.boolean()),
        async (steps, slow) => {
          const sink = new SlowSink(() => slow.next().value === true);
          const writer = new FrameWriter(sink);
          const expected: string[] = [];
          for (const { sizes, isTaken } of steps) {
            for (const size of sizes) {
              const id = expected.length;
              const text = String.fromCharCode(97 + (id % 26)).repeat(size);
              expected.push(`${id} ${text}`);
              writer.frame(FrameKind.message, id, Buffer.from(text));
            }
            await turn();
            if (isTaken) sink.takeOne();
          }
          while (sink.takeOne()) await turn();
          expect(bodiesOf(sink.writes)).toEqual(expected);
        },
      ),
      { numRuns: 100 },
    );
  });
});
