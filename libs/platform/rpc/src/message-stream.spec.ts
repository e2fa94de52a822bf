import { MessageStream, type StreamEnd } from './message-stream';
import type { StreamReader } from './transport';

interface Source {
  readonly reader: StreamReader<string>;
  readonly timeoutMs: number | undefined;
  /** The costs that the reader reported. */
  readonly reports: number[];
  cancelled: boolean;
}

function open({ timeoutMs, onEnd }: { timeoutMs?: number; onEnd?: StreamEnd } = {}) {
  const sources: Source[] = [];
  const call = { service: 'Notes', method: 'List', request: '', timeoutMs };
  const stream = new MessageStream<number, string>(
    call,
    (started, reader) => {
      const source: Source = { reader, timeoutMs: started.timeoutMs, reports: [], cancelled: false };
      sources.push(source);
      return {
        read: (taken) => void source.reports.push(taken),
        cancel: () => (source.cancelled = true),
      };
    },
    { decode: (text) => JSON.parse(text) as number, onEnd },
  );
  /** The first read, which starts the call. */
  function start() {
    const first = stream.next();
    const [source] = sources;
    if (source === undefined) throw new Error('not started');
    return { first, source, reader: source.reader };
  }
  return { stream, sources, start };
}

const value = (number: number) => ({ done: false, value: number });
const done = { done: true, value: undefined };
const failure = new Error('failed');

describe('a stream of messages', () => {
  it('starts its call with the first read, once', async () => {
    const { stream, sources, start } = open();
    expect(sources).toEqual([]);
    start();
    void stream.next();
    expect(sources).toHaveLength(1);
  });

  it('that was closed before the first read does not start its call', async () => {
    const { stream, sources } = open();
    await stream.return();
    expect(await stream.next()).toEqual(done);
    expect(sources).toEqual([]);
  });

  it('rejects the first read when the call cannot start', async () => {
    const stream = new MessageStream(
      { service: 'Notes', method: 'List', request: '' },
      () => {
        throw failure;
      },
      { decode: (text) => text },
    );
    await expect(stream.next()).rejects.toBe(failure);
    expect(await stream.next()).toEqual(done);
  });

  it('counts the time of its call from its creation', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const { start } = open({ timeoutMs: 500 });
    now.mockReturnValue(1_200);
    const { source } = start();
    expect(source.timeoutMs).toBe(300);
    now.mockRestore();
  });

  it('delivers a message to the read that waits for it in the same turn', async () => {
    const { first, reader } = open().start();
    const turns: string[] = [];
    const read = first.then(() => turns.push('read'));
    reader.message('1', 1);
    void Promise.resolve().then(() => turns.push('next turn'));
    await read;
    expect(turns).toEqual(['read', 'next turn']);
  });

  it('delivers stored messages in order, then its end', async () => {
    const { stream, start } = open();
    const { first, reader } = start();
    for (const text of ['1', '2', '3']) reader.message(text, 1);
    reader.end(undefined);
    expect([await first, await stream.next(), await stream.next()]).toEqual([1, 2, 3].map(value));
    expect(await stream.next()).toEqual(done);
  });

  it('resolves concurrent reads in order', async () => {
    const { stream, start } = open();
    const { first, reader } = start();
    const reads = [first, stream.next(), stream.next(), stream.next()];
    reader.message('1', 1);
    reader.message('2', 1);
    reader.end(undefined);
    expect(await Promise.all(reads)).toEqual([value(1), value(2), done, done]);
  });

  it('reports the cost of a message when it was taken', async () => {
    const { stream, start } = open();
    const { source, reader } = start();
    reader.message('1', 10);
    reader.message('2', 20);
    reader.message('3', 30);
    expect(source.reports).toEqual([]);
    await stream.next();
    expect(source.reports).toEqual([30]);
    await stream.next();
    void stream.next();
    expect(source.reports).toEqual([30, 30, 0]);
  });

  it('rejects one read with the failure, after all messages', async () => {
    const { stream, start } = open();
    const { first, reader } = start();
    reader.message('1', 1);
    reader.message('2', 1);
    reader.end(failure);
    expect([await first, await stream.next()]).toEqual([1, 2].map(value));
    await expect(stream.next()).rejects.toBe(failure);
    expect(await stream.next()).toEqual(done);
  });

  it('rejects only the first of several pending reads with the failure', async () => {
    const { stream, start } = open();
    const { first, reader } = start();
    const second = stream.next();
    reader.end(failure);
    await expect(first).rejects.toBe(failure);
    expect(await second).toEqual(done);
  });

  it('cancels its call when the reader closes it, and drops what is unread', async () => {
    const { stream, start } = open();
    const { first, source, reader } = start();
    reader.message('1', 1);
    reader.message('2', 1);
    await first;
    await stream.return();
    expect(source.cancelled).toBe(true);
    reader.message('3', 1);
    reader.end(failure);
    expect(await stream.next()).toEqual(done);
  });

  it('resolves a pending read as done when the reader closes it', async () => {
    const { stream, start } = open();
    const { first } = start();
    await stream.return();
    expect(await first).toEqual(done);
  });

  it('does not cancel a call that has ended', async () => {
    const { stream, start } = open();
    const { first, source, reader } = start();
    reader.end(undefined);
    await first;
    await stream.return();
    expect(source.cancelled).toBe(false);
  });

  it('cancels its call and fails when a message cannot be decoded, after the messages before it', async () => {
    const { stream, start } = open();
    const { first, source, reader } = start();
    reader.message('1', 1);
    reader.message('2', 1);
    reader.message('{', 1);
    reader.message('3', 1);
    expect(source.cancelled).toBe(true);
    expect([await first, await stream.next()]).toEqual([1, 2].map(value));
    await expect(stream.next()).rejects.toThrow(SyntaxError);
    expect(await stream.next()).toEqual(done);
  });

  it('reports its end once: with the last message taken, a failure, or the cancellation', async () => {
    const ends: unknown[] = [];
    const onEnd: StreamEnd = (end) => void ends.push(end);
    const complete = open({ onEnd });
    const { first, reader } = complete.start();
    reader.message('1', 1);
    reader.message('2', 1);
    reader.end(undefined);
    await first;
    expect(ends).toEqual([]);
    await complete.stream.next();
    expect(ends).toEqual([undefined]);
    await complete.stream.return();

    const failed = open({ onEnd }).start();
    failed.reader.end(failure);
    await expect(failed.first).rejects.toBe(failure);

    const closed = open({ onEnd });
    closed.start();
    await closed.stream.return();
    await closed.stream.return();
    expect(ends).toEqual([undefined, failure, 'cancelled']);
  });
});
