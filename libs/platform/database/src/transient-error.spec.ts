import { isTransientDatabaseError } from './transient-error';

/** As Prisma words what it has no code of its own for; the server's is two levels down. */
function ofPrisma(sqlState: string): Error {
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
  ['a database that is closed to connections', '55000', true],
  ['a fault of the query', '42703', false],
])('%s, told by Prisma: %s', (_name, sqlState, expected) => {
  expect(isTransientDatabaseError(ofPrisma(sqlState))).toBe(expected);
});

it('a connection that is refused, as the driver says it and as a cause', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(isTransientDatabaseError(refused)).toBe(true);
  expect(isTransientDatabaseError(new Error('x', { cause: refused }))).toBe(true);
  expect(isTransientDatabaseError(new Error('x', { cause: undefined }))).toBe(false);
  expect(isTransientDatabaseError(Object.assign(new Error('x'), { meta: null }))).toBe(false);
});
