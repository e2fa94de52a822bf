import { isTransientDatabaseError } from './transient-error';

/** Prisma's error for a code of the server that Prisma does not map; the code is two levels down. */
function prismaError(sqlState: string): Error {
  const cause = { originalCode: sqlState, kind: 'postgres', code: sqlState, message: 'the server said so' };
  const driverAdapterError = Object.assign(new Error('DriverAdapterError'), { cause });
  return Object.assign(new Error('Invalid `prisma.account.findUnique()` invocation'), {
    code: 'P2039',
    meta: { modelName: 'Account', driverAdapterError },
  });
}

it.each([
  ['a server that starts up', '57P03', true],
  ['a server that shuts down', '57P01', true],
  ['a database that accepts no connections', '55000', true],
  ['an invalid query', '42703', false],
])('%s, reported by Prisma: %s', (_name, sqlState, expected) => {
  expect(isTransientDatabaseError(prismaError(sqlState))).toBe(expected);
});

it('a refused connection, as an error of the driver and as a cause', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(isTransientDatabaseError(refused)).toBe(true);
  expect(isTransientDatabaseError(new Error('x', { cause: refused }))).toBe(true);
  expect(isTransientDatabaseError(new Error('x', { cause: undefined }))).toBe(false);
  expect(isTransientDatabaseError(Object.assign(new Error('x'), { meta: null }))).toBe(false);
});
