import { Cancellation } from '@gateway/base';
import type { Dispatcher } from 'undici';
import { ProviderExchange } from './provider-exchange';

const FULL = Buffer.alloc(64 * 1024, 'x');

/** An answer that has begun, on a connection that notes when it is paused and let go on. */
async function begin() {
  const done: string[] = [];
  const connection = {
    paused: false,
    pause: () => {
      connection.paused = true;
      done.push('pause');
    },
    resume: () => {
      connection.paused = false;
      done.push('resume');
    },
  };
  const controller = connection as unknown as Dispatcher.DispatchController;
  const exchange = new ProviderExchange('acme', new Cancellation(), () => undefined);
  const dispatcher = { dispatch: () => true } as unknown as Dispatcher;
  const sending = exchange.send(dispatcher, { method: 'POST', path: '/' });
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, {});
  const answer = await sending;
  return { answer, done, arrive: (bytes: Buffer) => exchange.onResponseData(controller, bytes) };
}

it('leaves a connection as it is when what it brings is read at once, however much that is', async () => {
  const { answer, done, arrive } = await begin();
  const read: unknown[] = [];
  answer.listen(() => read.push(answer.poll(), answer.poll()));
  expect(answer.poll()).toBe('none_yet');
  arrive(FULL);
  expect(read).toEqual([FULL, 'none_yet']);
  expect(done).toEqual([]);
});

it('pauses a connection that brings more than is read, until it is', async () => {
  const { answer, done, arrive } = await begin();
  arrive(FULL);
  expect(done).toEqual(['pause']);
  expect(answer.poll()).toEqual(FULL);
  expect(done).toEqual(['pause', 'resume']);
});

it('tells who listens once, and only after there was nothing to read', async () => {
  const { answer, arrive } = await begin();
  let told = 0;
  answer.listen(() => (told += 1));
  arrive(FULL);
  expect(told).toBe(0);
  expect(answer.poll()).toEqual(FULL);
  expect(answer.poll()).toBe('none_yet');
  arrive(Buffer.from('a'));
  arrive(Buffer.from('b'));
  expect(told).toBe(1);
  expect(String(answer.poll())).toBe('ab');
});
