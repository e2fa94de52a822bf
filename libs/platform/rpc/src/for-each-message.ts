/**
 * Gives `take` each message of a stream, the next one once it is done with the last. Ends and fails
 * as `for await` does, whose place it takes where thousands of slow streams are read: that would
 * keep each message until the next one comes, and make more for each that is waited for.
 */
export function forEachMessage<Message>(
  messages: AsyncIterable<Message>,
  take: (message: Message) => Promise<void> | undefined,
): Promise<void> {
  const iterator = messages[Symbol.asyncIterator]();
  return new Promise((resolve, reject) => {
    const ask = (): void => void iterator.next().then(receive, reject);
    const receive = (result: IteratorResult<Message>): void => {
      if (result.done) return resolve();
      try {
        const taken = take(result.value);
        if (taken) taken.then(ask, leave);
        else ask();
      } catch (error) {
        leave(error);
      }
    };
    const leave = (error: unknown): void => {
      const failed = (): void => reject(error);
      Promise.resolve(iterator.return?.()).then(failed, failed);
    };
    ask();
  });
}
