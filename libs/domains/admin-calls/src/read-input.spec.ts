import { z } from 'zod';
import { readInput } from './read-input';

const schema = z.strictObject({
  amount: z.int().min(1).max(20),
  name: z.string().min(1).max(63),
  kind: z.enum(['day', 'week']),
  emails: z.array(z.string()).max(2),
  day: z.iso.date(),
  on: z.boolean(),
  month: z.string().regex(/^\d{4}-\d\d$/, { error: 'must be a month such as 2026-11' }),
});
const VALID = {
  amount: 1,
  name: 'a',
  kind: 'day',
  emails: [],
  day: '2026-11-30',
  on: true,
  month: '2026-11',
};

it.each([
  [{ amount: undefined }, 'amount: is required.'],
  [{ amount: 'x' }, 'amount: must be a number.'],
  [{ amount: 1.5 }, 'amount: must be a whole number.'],
  [{ amount: 0 }, 'amount: must be at least 1.'],
  [{ amount: 21 }, 'amount: must be at most 20.'],
  [{ name: 1 }, 'name: must be text.'],
  [{ name: '' }, 'name: must not be empty.'],
  [{ name: 'a'.repeat(64) }, 'name: must have at most 63 characters.'],
  [{ kind: 'year' }, 'kind: must be one of day, week.'],
  [{ emails: ['a', 'b', 'c'] }, 'emails: must have at most 2 entries.'],
  [{ emails: [1] }, 'emails[0]: must be text.'],
  [{ day: 'today' }, 'day: must be a date such as 2026-11-30.'],
  [{ on: 'yes' }, 'on: must be true or false.'],
  [{ month: '2026' }, 'month: must be a month such as 2026-11.'],
  [{ more: 1 }, 'Unknown field: more.'],
])('says in words what is wrong with %j', (changes, message) => {
  expect(() => readInput(schema, { ...VALID, ...changes }, 'body')).toThrow(message);
});
