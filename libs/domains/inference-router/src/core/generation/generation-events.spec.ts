import { GenerationEvents, type GenerationEvent, type GenerationPart } from './generation-events';

const frames = (sse: string): GenerationEvent => ({
  kind: 'frames',
  sse,
  completionTokens: 0,
  finishedChoices: [],
});
const sseOf = (event: GenerationEvent): string => (event.kind === 'frames' ? event.sse : event.kind);

/** A stream whose events are sent by the test. */
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

function startEvents() {
  const live = new ScriptedStream();
  const seen = { failure: undefined as unknown, left: false };
  async function* parts(): AsyncGenerator<GenerationPart, void, void> {
    try {
      yield live;
    } catch (error) {
      seen.failure = error;
      throw new Error('mapped error');
    } finally {
      seen.left = true;
    }
    yield frames('closing');
  }
  return { live, seen, events: new GenerationEvents(parts(), sseOf) };
}

it('returns the events of a stream as they arrive, then the following parts', async () => {
  const { live, events } = startEvents();
  const first = events.next();
  // The generator reaches the stream after a few microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  live.arrive(frames('one'));
  expect(await first).toEqual({ done: false, value: 'one' });
  live.arrive(frames('two'), 'end');
  expect(await events.next()).toEqual({ done: false, value: 'two' });
  expect(await events.next()).toEqual({ done: false, value: 'closing' });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

it('polls a stream only when it is read', async () => {
  const { live, events } = startEvents();
  live.arrive(frames('one'), frames('two'));
  expect(await events.next()).toEqual({ done: false, value: 'one' });
  live.arrive(frames('three'));
  expect(live.poll()).toEqual(frames('two'));
});

it('passes the error of a stream to the generation, and rejects with the error that it throws', async () => {
  const { live, seen, events } = startEvents();
  const reading = events.next();
  await new Promise((resolve) => setImmediate(resolve));
  live.arrive(new Error('cut'));
  await expect(reading).rejects.toThrow('mapped error');
  expect(seen).toEqual({ failure: new Error('cut'), left: true });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

it('ends the generation, and a pending read, when its reader returns', async () => {
  const { live, seen, events } = startEvents();
  const reading = events.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await events.return()).toEqual({ done: true, value: undefined });
  expect(await reading).toEqual({ done: true, value: undefined });
  expect(seen.left).toBe(true);
  live.arrive(frames('too late'));
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

it('allows one read at a time', async () => {
  const { live, events } = startEvents();
  live.arrive(frames('one'));
  await events.next();
  const pending = events.next();
  await expect(events.next()).rejects.toThrow('the previous read is still pending');
  live.arrive(frames('two'));
  expect(await pending).toEqual({ done: false, value: 'two' });
});
