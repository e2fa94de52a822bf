import { GatewayError } from './gateway-error';
import { handlersUnavailableAsNoCapacity, unavailableAsNoCapacity } from './unavailable-as-no-capacity';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const isUnavailable = (error: unknown) => error === refused;

it('converts the error of an unavailable dependency to no_capacity', async () => {
  await expect(unavailableAsNoCapacity(Promise.reject(refused), isUnavailable)).rejects.toMatchObject({
    code: 'no_capacity',
    retryAfterMs: 10_000,
    internalMessage: 'connect ECONNREFUSED',
    cause: refused,
  });
});

it.each([
  ['an internal error', new TypeError('x is undefined')],
  ['an error that already has a code', new GatewayError('invalid_request', { cause: refused })],
])('%s is rethrown unchanged', async (_name, error) => {
  await expect(unavailableAsNoCapacity(Promise.reject(error), isUnavailable)).rejects.toBe(error);
});

it('wraps each handler and passes its results and streams through', async () => {
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
