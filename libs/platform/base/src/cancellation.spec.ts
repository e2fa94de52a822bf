import { Cancellation, toAbortSignal, type CancelSignal } from './cancellation';

describe.each([
  ['a cancellation', () => new Cancellation(), (signal: CancelSignal) => signal],
  [
    'an abort controller',
    () => new AbortController(),
    (controller: object) => (controller as AbortController).signal,
  ],
] as const)('%s', (_, create, signalOf) => {
  const open = () => {
    const source = create();
    return { source, signal: signalOf(source as never) as CancelSignal };
  };

  it('calls every listener once, in the order of registration', () => {
    const { source, signal } = open();
    const called: string[] = [];
    for (const name of ['a', 'b', 'c']) signal.addEventListener('abort', () => called.push(name));
    const twice = () => called.push('d');
    signal.addEventListener('abort', twice);
    signal.addEventListener('abort', twice);
    source.abort();
    source.abort();
    expect(called).toEqual(['a', 'b', 'c', 'd']);
  });

  it('supports listener objects', () => {
    const { source, signal } = open();
    const listener = { calls: 0, handleEvent: () => void (listener.calls += 1) };
    signal.addEventListener('abort', listener);
    source.abort();
    expect(listener.calls).toBe(1);
  });

  it.each([0, 1, 2])('does not call a removed listener (%i)', (removed) => {
    const { source, signal } = open();
    const called: number[] = [];
    const listeners = [0, 1, 2].map((index) => () => void called.push(index));
    for (const listener of listeners) signal.addEventListener('abort', listener);
    signal.removeEventListener('abort', listeners[removed] as () => void);
    source.abort();
    expect(called).toEqual([0, 1, 2].filter((index) => index !== removed));
  });

  it('does not call a listener that another listener has removed', () => {
    const { source, signal } = open();
    const called: string[] = [];
    const second = () => called.push('second');
    signal.addEventListener('abort', () => {
      called.push('first');
      signal.removeEventListener('abort', second);
    });
    signal.addEventListener('abort', second);
    signal.addEventListener('abort', () => called.push('third'));
    source.abort();
    expect(called).toEqual(['first', 'third']);
  });

  it('does not call listeners that are added after the abort, and retains the first reason', () => {
    const { source, signal } = open();
    expect(signal).toMatchObject({ aborted: false, reason: undefined });
    source.abort(new Error('first'));
    source.abort(new Error('second'));
    let isCalled = false;
    signal.addEventListener('abort', () => (isCalled = true));
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toEqual(new Error('first'));
    expect(isCalled).toBe(false);
  });

  it('has a default reason', () => {
    const { source, signal } = open();
    source.abort();
    expect(signal.reason).toMatchObject({ name: 'AbortError' });
  });

  it('converts to an abort signal with its reason, before and after the abort', () => {
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
