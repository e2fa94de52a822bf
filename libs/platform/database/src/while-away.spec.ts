import { GatewayError } from '@gateway/errors';
import { noCapacityWhileAway } from './while-away';

const failing = (error: unknown) =>
  noCapacityWhileAway({ look: async (_what: string) => Promise.reject(error) });
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('a database that cannot be reached is a lack of capacity', async () => {
  await expect(failing(refused).look('x')).rejects.toMatchObject({
    code: 'no_capacity',
    retryAfterMs: 10_000,
    cause: refused,
  });
});

test.each([
  ['a fault of ours', new TypeError('x is undefined')],
  ['an error that has its code already', new GatewayError('invalid_request', { cause: refused })],
])('%s stays what it is', async (_name, error) => {
  await expect(failing(error).look('x')).rejects.toBe(error);
});

test('what goes well, and what streams, is passed on', async () => {
  const stream = (async function* () {
    yield 1;
  })();
  const handlers = noCapacityWhileAway({ look: async (what: string) => `${what}!`, watch: () => stream });
  await expect(handlers.look('x')).resolves.toBe('x!');
  expect(handlers.watch()).toBe(stream);
});
