import { scrypt } from 'node:crypto';
import type crypto from 'node:crypto';
import { createScryptPasswordHasher } from './scrypt-password-hasher';

jest.mock('node:crypto', () => {
  const actual = jest.requireActual<typeof crypto>('node:crypto');
  return { ...actual, scrypt: jest.fn(actual.scrypt) };
});

const COST = { N: 16, r: 1, p: 1 };
const { hash, verify, versionOf } = createScryptPasswordHasher(COST);
/** The costs with which the call ran scrypt. */
async function costsOf(call: () => Promise<unknown>) {
  jest.mocked(scrypt).mockClear();
  await call();
  const calls: readonly (readonly unknown[])[] = jest.mocked(scrypt).mock.calls;
  return calls.map(([, , , options]) => options);
}

it('accepts only the password, in any Unicode form, and hashes it with a new salt each time', async () => {
  const password = 'Café Noir';
  const stored = await hash(password.normalize('NFC'));
  expect(await verify(password.normalize('NFD'), stored)).toBe(true);
  expect(await verify(password.toLowerCase(), stored)).toBe(false);
  const again = await hash(password);
  expect([again === stored, versionOf(again) === versionOf(stored)]).toEqual([false, false]);
});

it('does the same work for an account that does not exist, or has no password, as for a wrong password', async () => {
  const stored = await hash('the password');
  expect(await costsOf(() => verify('wrong', stored))).toMatchObject([COST]);
  expect(await costsOf(() => verify('wrong', undefined))).toMatchObject([COST]);
  expect(await verify('', undefined)).toBe(false);
});

it('verifies a password that was hashed with another cost', async () => {
  const stored = await createScryptPasswordHasher({ ...COST, N: 32 }).hash('the password');
  expect(await verify('the password', stored)).toBe(true);
  await expect(verify('the password', stored.replace('scrypt', 'md5'))).rejects.toThrow('malformed');
});

it('refuses more than 66 hashes at once, and works again afterwards', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 70 }, () => hash('the password')));
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as object] : []));
  expect(refused).toHaveLength(4);
  expect(refused[0]).toMatchObject({ code: 'no_capacity' });
  expect(await verify('the password', await hash('the password'))).toBe(true);
});
