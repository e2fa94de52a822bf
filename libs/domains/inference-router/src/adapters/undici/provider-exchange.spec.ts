import { Cancellation } from '@gateway/base';
import type { Dispatcher } from 'undici';
import { ProviderExchange } from './provider-exchange';

const FULL = Buffer.alloc(64 * 1024, 'x');

/** A started response on a connection that records when it is paused and resumed. */
async function startExchange() {
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
  const response = await sending;
  return { response, done, arrive: (bytes: Buffer) => exchange.onResponseData(controller, bytes) };
}

it('does not pause a connection whose bytes are read immediately, whatever their number', async () => {
  const { response, done, arrive } = await startExchange();
  const read: unknown[] = [];
  response.listen(() => read.push(response.poll(), response.poll()));
  expect(response.poll()).toBe('none_yet');
  arrive(FULL);
  expect(read).toEqual([FULL, 'none_yet']);
  expect(done).toEqual([]);
});

it('pauses a connection with unread bytes until they are read', async () => {
  const { response, done, arrive } = await startExchange();
  arrive(FULL);
  expect(done).toEqual(['pause']);
  expect(response.poll()).toEqual(FULL);
  expect(done).toEqual(['pause', 'resume']);
});

it('calls the listener once, and only after a poll found nothing', async () => {
  const { response, arrive } = await startExchange();
  let calls = 0;
  response.listen(() => (calls += 1));
  arrive(FULL);
  expect(calls).toBe(0);
  expect(response.poll()).toEqual(FULL);
  expect(response.poll()).toBe('none_yet');
  arrive(Buffer.from('a'));
  arrive(Buffer.from('b'));
  expect(calls).toBe(1);
  expect(String(response.poll())).toBe('ab');
});
