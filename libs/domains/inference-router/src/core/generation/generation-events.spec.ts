import { GenerationEvents, type GenerationEvent, type GenerationPart } from './generation-events';

const frames = (sse: string): GenerationEvent => ({ kind: 'frames', sse, completionTokens: 0 });
const sseOf = (event: GenerationEvent): string => (event.kind === 'frames' ? event.sse : event.kind);

/** A stream whose events come when the test says so. */
class ScriptedStream {
  private readonly arrived: (GenerationEvent | 'end' | Error)[] = [];
  private onArrival: () => void = () => undefined;

  poll(): GenerationEvent | 'none_yet' | 'end' {
    const next = this.arrived.shift() ?? 'none_yet';
    if (next instanceof Error) throw next;
    return next;
  }

  listen(onArrival: () => void): void {
    this.onArrival = onArrival;
  }

  arrive(...events: (GenerationEvent | 'end' | Error)[]): void {
    this.arrived.push(...events);
    this.onArrival();
  }
}

function begin() {
  const live = new ScriptedStream();
  const seen = { failure: undefined as unknown, left: false };
  async function* parts(): AsyncGenerator<GenerationPart, void, void> {
    try {
      yield live;
    } catch (error) {
      seen.failure = error;
      throw new Error('told otherwise');
    } finally {
      seen.left = true;
    }
    yield frames('closing');
  }
  return { live, seen, events: new GenerationEvents(parts(), sseOf) };
}

it('returns the events of a stream as they arrive, then the following parts', async () => {
  const { live, events } = begin();
  const first = events.next();
  // The generator gets there within a few turns of promises.
  await new Promise((resolve) => setImmediate(resolve));
  live.arrive(frames('one'));
  expect(await first).toEqual({ done: false, value: 'one' });
  live.arrive(frames('two'), 'end');
  expect(await events.next()).toEqual({ done: false, value: 'two' });
  expect(await events.next()).toEqual({ done: false, value: 'closing' });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

it('polls a stream only for a read', async () => {
  const { live, events } = begin();
  live.arrive(frames('one'), frames('two'));
  expect(await events.next()).toEqual({ done: false, value: 'one' });
  live.arrive(frames('three'));
  expect(live.poll()).toEqual(frames('two'));
});

it('passes the error of a stream to the generation, and rejects with the error that it throws', async () => {
  const { live, seen, events } = begin();
  const reading = events.next();
  await new Promise((resolve) => setImmediate(resolve));
  live.arrive(new Error('cut'));
  await expect(reading).rejects.toThrow('told otherwise');
  expect(seen).toEqual({ failure: new Error('cut'), left: true });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

it('ends the generation, and a pending read, when its reader returns', async () => {
  const { live, seen, events } = begin();
  const reading = events.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await events.return()).toEqual({ done: true, value: undefined });
  expect(await reading).toEqual({ done: true, value: undefined });
  expect(seen.left).toBe(true);
  live.arrive(frames('too late'));
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

it('allows one read at a time', async () => {
  const { live, events } = begin();
  live.arrive(frames('one'));
  await events.next();
  const waiting = events.next();
  await expect(events.next()).rejects.toThrow('the previous read has not settled');
  live.arrive(frames('two'));
  expect(await waiting).toEqual({ done: false, value: 'two' });
});
