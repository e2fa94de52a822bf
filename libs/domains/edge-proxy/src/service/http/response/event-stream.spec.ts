import type { ServerResponse } from 'node:http';
import { createEventStream, createKeepAlive } from './event-stream';

const IDLE_MS = 15_000;

describe('keep-alive comments', () => {
  let now = 0;
  const written: number[] = [];
  const sendHead = () => {};
  const response = {
    writableNeedDrain: false,
    write: () => {
      written.push(now);
      return true;
    },
  } as unknown as ServerResponse;
  const keepAlive = createKeepAlive(() => now, { idleMs: IDLE_MS, firstMs: IDLE_MS });

  beforeEach(() => {
    jest.useFakeTimers();
    now = 0;
    written.length = 0;
    keepAlive.start();
  });
  afterEach(() => {
    keepAlive.stop();
    jest.useRealTimers();
  });

  function pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 10) {
      now += 10;
      jest.advanceTimersByTime(10);
    }
  }

  it('are written before a stream has been idle for their interval', () => {
    pass(7_130);
    const stream = createEventStream(response, keepAlive, () => now, sendHead);
    const opened = now;
    pass(120_000);
    const silences = written.map((at, index) => at - (written[index - 1] ?? opened));
    expect(silences).toHaveLength(8);
    expect(Math.max(...silences)).toBeLessThanOrEqual(IDLE_MS);
    expect(Math.min(...silences)).toBeGreaterThan(IDLE_MS - 500);
    stream.close();
  });

  it('are not written into an active stream', () => {
    const stream = createEventStream(response, keepAlive, () => now, sendHead);
    for (let count = 0; count < 10; count += 1) {
      pass(IDLE_MS - 1_000);
      void stream.write(Buffer.from('data'));
    }
    expect(written).toHaveLength(10);
    stream.close();
  });

  it('are not written while the reader is behind', () => {
    const behind = { ...response, socket: { writableNeedDrain: true } } as unknown as ServerResponse;
    const stream = createEventStream(behind, keepAlive, () => now, sendHead);
    pass(10 * IDLE_MS);
    expect(written).toEqual([]);
    stream.close();
  });
});
