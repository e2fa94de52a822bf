import { accepted, chatBody, validate } from '../testing/chat-fixtures';
import { MAX_TAG_CHARACTERS, usageTagsOf } from './usage-tags';

const NAMES = ['customer_id', 'team'];

it('reads only entries whose names are declared', () => {
  const metadata = { team: 'blue', order: '7', customer_id: 'c-1' };
  expect(usageTagsOf({ metadata }, NAMES)).toEqual([
    { name: 'customer_id', value: 'c-1' },
    { name: 'team', value: 'blue' },
  ]);
});

it('allocates nothing without declared names, and has no tags without values', () => {
  const metadata = { team: 'blue' };
  expect(usageTagsOf({ metadata }, [])).toBeUndefined();
  expect(usageTagsOf({ metadata }, ['other', 'constructor', '__proto__'])).toBeUndefined();
  expect(usageTagsOf({ metadata: 'team' }, NAMES)).toBeUndefined();
  expect(usageTagsOf({ metadata: null }, NAMES)).toBeUndefined();
  expect(usageTagsOf({}, NAMES)).toBeUndefined();
});

it.each([
  ['a number', 42, '42'],
  ['a truth value', false, 'false'],
  ['a long text', 'x'.repeat(1_000), 'x'.repeat(MAX_TAG_CHARACTERS)],
])('stores %s as text', (_, given, value) => {
  expect(usageTagsOf({ metadata: { team: given } }, NAMES)).toEqual([{ name: 'team', value }]);
});

it.each([
  ['an object', { a: 1 }],
  ['a list', ['a']],
  ['null', null],
  ['an empty text', ''],
])('never fails a request for %s, which is no value', (_, given) => {
  expect(usageTagsOf({ metadata: { team: given } }, NAMES)).toBeUndefined();
});

it('is part of a validated request and not of what the provider receives', () => {
  const request = accepted(validate(chatBody({ metadata: { team: 'blue' } }), { usageTags: NAMES }));
  expect(request.tags).toEqual([{ name: 'team', value: 'blue' }]);
  expect(request.bodyJson.toString()).not.toContain('blue');
  expect(accepted(validate(chatBody({ metadata: { team: 'blue' } }))).tags).toBeUndefined();
});
