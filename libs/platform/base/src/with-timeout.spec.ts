import { sleep } from './sleep';
import { TimeoutError, withTimeout } from './with-timeout';

it('the result, or the error, of work that finishes in time', async () => {
  await expect(withTimeout(Promise.resolve(1), 60_000, 'it')).resolves.toBe(1);
  await expect(withTimeout(async () => Promise.reject(new Error('no')), 60_000, 'it')).rejects.toThrow('no');
});

it('work that takes too long rejects, and its signal aborts', async () => {
  let signal: AbortSignal | undefined;
  const late = withTimeout(
    (given) => {
      signal = given;
      return sleep(60_000, given);
    },
    5,
    'reading',
  );
  await expect(late).rejects.toThrow(new TimeoutError('reading took longer than 5 ms'));
  expect(signal?.aborted).toBe(true);
});
