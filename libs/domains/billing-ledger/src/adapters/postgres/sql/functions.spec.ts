import { billingLedgerSchema } from './schema';

const functions = Object.entries(billingLedgerSchema.functions);
const withoutComments = (sql: string) => sql.replaceAll(/--.*$/gm, '');
const locksFirst = (sql: string) => /\bbegin\s+perform lock_accounts\(/.test(withoutComments(sql));
const callersOf = (name: string) =>
  functions.filter(([caller, sql]) => caller !== name && sql.includes(`${name}(`));

const moving = functions.filter(
  ([name, sql]) => name !== 'lock_accounts' && /\bupdate accounts\b/.test(withoutComments(sql)),
);

it('finds the functions that move money', () => {
  expect(moving.map(([name]) => name)).toEqual([
    'add_credit',
    'correct_credit',
    'extend_holds',
    'place_covered_holds',
    'post_settlements',
    'settle_open_holds',
    'void_holds',
  ]);
});

it.each(moving)('%s locks the accounts first, or its callers do', (name, sql) => {
  const callers = callersOf(name);
  expect(locksFirst(sql) || (callers.length > 0 && callers.every(([, caller]) => locksFirst(caller)))).toBe(
    true,
  );
});
