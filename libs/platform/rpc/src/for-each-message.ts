/**
 * Calls `onMessage` with each message of a stream, one at a time. Resolves and
 * rejects as `for await` does. Use it where thousands of slow streams are read:
 * `for await` retains each message until the next one arrives, and allocates more.
 */
export function forEachMessage<Message>(
  messages: AsyncIterable<Message>,
  onMessage: (message: Message) => Promise<void> | undefined,
): Promise<void> {
  const iterator = messages[Symbol.asyncIterator]();
  return new Promise((resolve, reject) => {
    const readNext = (): void => void iterator.next().then(receive, reject);
    const receive = (result: IteratorResult<Message>): void => {
      if (result.done) return resolve();
      try {
        const handled = onMessage(result.value);
        if (handled) handled.then(readNext, stop);
        else readNext();
      } catch (error) {
        stop(error);
      }
    };
    const stop = (error: unknown): void => {
      const failed = (): void => reject(error);
      Promise.resolve(iterator.return?.()).then(failed, failed);
    };
    readNext();
  });
}
