import { isTransientDatabaseError } from './transient-error';

const failure = (code: string, message = 'it failed') => Object.assign(new Error(message), { code });

it.each([
  ['a full disk', failure('53100')],
  ['a server out of memory', failure('53200')],
  ['a disk that fails', failure('58030')],
  ['a standby that takes over', failure('25006')],
  ['a server that stops', failure('57P01')],
  ['a deadlock', failure('40P01')],
  ['a lost connection', failure('08006')],
  ['a refused connection', failure('ECONNREFUSED')],
  ['one of them as the cause', new Error('wrapped', { cause: failure('53100') })],
])('%s may pass by itself', (_what, error) => {
  expect(isTransientDatabaseError(error)).toBe(true);
});

it.each([
  ['a broken constraint', failure('23505')],
  ['a wrong statement', failure('42601')],
  ['a right that is missing', failure('42501')],
  ['an error of ours', new TypeError('x is undefined')],
  ['nothing', undefined],
])('%s does not', (_what, error) => {
  expect(isTransientDatabaseError(error)).toBe(false);
});
