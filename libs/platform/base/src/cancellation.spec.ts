import { Cancellation, toAbortSignal, type CancelSignal } from './cancellation';

describe.each([
  ['a cancellation', () => new Cancellation(), (signal: CancelSignal) => signal],
  [
    'an abort controller',
    () => new AbortController(),
    (controller: object) => (controller as AbortController).signal,
  ],
] as const)('%s', (_, make, signalOf) => {
  const open = () => {
    const source = make();
    return { source, signal: signalOf(source as never) as CancelSignal };
  };

  it('tells every listener once, in the order of their coming', () => {
    const { source, signal } = open();
    const told: string[] = [];
    for (const name of ['a', 'b', 'c']) signal.addEventListener('abort', () => told.push(name));
    const twice = () => told.push('d');
    signal.addEventListener('abort', twice);
    signal.addEventListener('abort', twice);
    source.abort();
    source.abort();
    expect(told).toEqual(['a', 'b', 'c', 'd']);
  });

  it('tells objects as well', () => {
    const { source, signal } = open();
    const listener = { told: 0, handleEvent: () => void (listener.told += 1) };
    signal.addEventListener('abort', listener);
    source.abort();
    expect(listener.told).toBe(1);
  });

  it.each([0, 1, 2])('forgets a listener that was removed, the others not (%i)', (removed) => {
    const { source, signal } = open();
    const told: number[] = [];
    const listeners = [0, 1, 2].map((index) => () => void told.push(index));
    for (const listener of listeners) signal.addEventListener('abort', listener);
    signal.removeEventListener('abort', listeners[removed] as () => void);
    source.abort();
    expect(told).toEqual([0, 1, 2].filter((index) => index !== removed));
  });

  it('does not tell a listener that another one removed before its turn', () => {
    const { source, signal } = open();
    const told: string[] = [];
    const second = () => told.push('second');
    signal.addEventListener('abort', () => {
      told.push('first');
      signal.removeEventListener('abort', second);
    });
    signal.addEventListener('abort', second);
    signal.addEventListener('abort', () => told.push('third'));
    source.abort();
    expect(told).toEqual(['first', 'third']);
  });

  it('does not tell who comes afterwards, and keeps its first reason', () => {
    const { source, signal } = open();
    expect(signal).toMatchObject({ aborted: false, reason: undefined });
    source.abort(new Error('first'));
    source.abort(new Error('second'));
    let told = false;
    signal.addEventListener('abort', () => (told = true));
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toEqual(new Error('first'));
    expect(told).toBe(false);
  });

  it('has a reason when none is given', () => {
    const { source, signal } = open();
    source.abort();
    expect(signal.reason).toMatchObject({ name: 'AbortError' });
  });

  it('is an abort signal to whom needs one, with its reason, before and afterwards', () => {
    const { source, signal } = open();
    const before = toAbortSignal(signal);
    expect(before.aborted).toBe(false);
    source.abort(new Error('why'));
    for (const converted of [before, toAbortSignal(signal)]) {
      expect(converted.aborted).toBe(true);
      expect(converted.reason).toEqual(new Error('why'));
    }
  });
});
