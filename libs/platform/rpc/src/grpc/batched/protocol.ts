/** The path of the stream that carries the calls of a connection. */
export const EXCHANGE_PATH = '/gateway.rpc.v1.BatchedCalls/Exchange';

/** Messages are sent in parts, so that calls with large ones take turns. */
export const MAX_PART_BYTES = 16 * 1024;

/** What is sent of one call before its receiver has taken it. */
export const WINDOW_BYTES = 64 * 1024;

/** A receiver reports what it took after this many bytes. */
export const REPORT_AFTER_BYTES = WINDOW_BYTES / 2;

/** What counts for each message in addition to its bytes, so that the number of unread small messages is bounded too. */
export const MESSAGE_OVERHEAD_BYTES = 256;

/** A batch ends with the message that reaches this size, so that encoding it delays nothing else for long. */
const BATCH_BYTES = 128 * 1024;

/** Removes the messages of the next batch from a queue. */
export function takeBatch<Message>(queue: Message[], sizeOf: (message: Message) => number): Message[] {
  let bytes = 0;
  const isFull = queue.findIndex((message) => (bytes += sizeOf(message)) >= BATCH_BYTES);
  return queue.splice(0, isFull === -1 ? queue.length : isFull + 1);
}
