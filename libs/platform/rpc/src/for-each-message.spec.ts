import { forEachMessage } from './for-each-message';

/** A stream of these messages, which records reads and whether it was closed. */
function streamOf(messages: readonly number[], failure?: Error) {
  const seen = { reads: 0, closed: false };
  async function* stream() {
    try {
      for (const message of messages) {
        seen.reads += 1;
        yield message;
      }
      if (failure) throw failure;
    } finally {
      seen.closed = true;
    }
  }
  return { seen, stream: stream() };
}

it('passes each message in order, and reads the next only when the last is handled', async () => {
  const { seen, stream } = streamOf([1, 2, 3]);
  const received: number[] = [];
  await forEachMessage(stream, (message) => {
    received.push(message);
    expect(seen.reads).toBe(message);
    if (message !== 2) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        expect(seen.reads).toBe(2);
        resolve();
      });
    });
  });
  expect(received).toEqual([1, 2, 3]);
});

it('rejects with the failure of the stream, after the messages before it', async () => {
  const { stream } = streamOf([1], new Error('broken'));
  const received: number[] = [];
  const reading = forEachMessage(stream, (message) => void received.push(message) as undefined);
  await expect(reading).rejects.toThrow('broken');
  expect(received).toEqual([1]);
});

it.each([
  [
    'throws',
    () => {
      throw new Error('enough');
    },
  ],
  ['rejects', () => Promise.reject(new Error('enough'))],
])('closes the stream and rejects when its callback %s', async (_, onMessage) => {
  const { seen, stream } = streamOf([1, 2]);
  await expect(forEachMessage(stream, onMessage)).rejects.toThrow('enough');
  expect(seen).toEqual({ reads: 1, closed: true });
});
