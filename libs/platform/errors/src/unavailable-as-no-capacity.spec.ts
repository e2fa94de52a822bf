import { GatewayError } from './gateway-error';
import { handlersUnavailableAsNoCapacity, unavailableAsNoCapacity } from './unavailable-as-no-capacity';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const isUnavailable = (error: unknown) => error === refused;

it('an unavailable dependency is a lack of capacity', async () => {
  await expect(unavailableAsNoCapacity(Promise.reject(refused), isUnavailable)).rejects.toMatchObject({
    code: 'no_capacity',
    retryAfterMs: 10_000,
    internalMessage: 'connect ECONNREFUSED',
    cause: refused,
  });
});

it.each([
  ['an error of ours', new TypeError('x is undefined')],
  ['an error that has its code already', new GatewayError('invalid_request', { cause: refused })],
])('%s stays what it is', async (_name, error) => {
  await expect(unavailableAsNoCapacity(Promise.reject(error), isUnavailable)).rejects.toBe(error);
});

it('each handler is wrapped; its results and streams are passed on', async () => {
  const stream = (async function* () {
    yield 1;
  })();
  const handlers = handlersUnavailableAsNoCapacity(
    {
      read: async (what: string) => `${what}!`,
      fail: async () => Promise.reject(refused),
      watch: () => stream,
    },
    isUnavailable,
  );
  await expect(handlers.read('x')).resolves.toBe('x!');
  await expect(handlers.fail()).rejects.toMatchObject({ code: 'no_capacity' });
  expect(handlers.watch()).toBe(stream);
});
