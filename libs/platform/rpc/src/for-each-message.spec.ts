import { forEachMessage } from './for-each-message';

/** A stream of these, which notes when it was left. */
function streamOf(messages: readonly number[], failure?: Error) {
  const seen = { asked: 0, left: false };
  async function* stream() {
    try {
      for (const message of messages) {
        seen.asked += 1;
        yield message;
      }
      if (failure) throw failure;
    } finally {
      seen.left = true;
    }
  }
  return { seen, stream: stream() };
}

it('gives each message in its order, and asks for the next only when the last was taken', async () => {
  const { seen, stream } = streamOf([1, 2, 3]);
  const taken: number[] = [];
  await forEachMessage(stream, (message) => {
    taken.push(message);
    expect(seen.asked).toBe(message);
    if (message !== 2) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        expect(seen.asked).toBe(2);
        resolve();
      });
    });
  });
  expect(taken).toEqual([1, 2, 3]);
});

it('fails with what the stream fails with, after the messages before it', async () => {
  const { stream } = streamOf([1], new Error('broken'));
  const taken: number[] = [];
  const reading = forEachMessage(stream, (message) => void taken.push(message) as undefined);
  await expect(reading).rejects.toThrow('broken');
  expect(taken).toEqual([1]);
});

it.each([
  [
    'throws',
    () => {
      throw new Error('enough');
    },
  ],
  ['rejects', () => Promise.reject(new Error('enough'))],
])('leaves the stream before it fails with what its reader %s', async (_, take) => {
  const { seen, stream } = streamOf([1, 2]);
  await expect(forEachMessage(stream, take)).rejects.toThrow('enough');
  expect(seen).toEqual({ asked: 1, left: true });
});
