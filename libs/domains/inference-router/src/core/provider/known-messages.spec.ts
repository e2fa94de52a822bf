import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { PARSED_BODY_BYTES, withKnownMessages, type MessageChanges } from './known-messages';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const BOTH: MessageChanges = { mapsDeveloper: true, dropsThoughts: true };

async function changed(body: object, changes: MessageChanges, parsedBytes: number): Promise<unknown> {
  const bytes = await withKnownMessages(Buffer.from(JSON.stringify(body)), changes, turn, parsedBytes);
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

/** Bodies that are changed as bytes, and those that are parsed. */
const AS_BYTES = 0;
const PARSED = PARSED_BODY_BYTES;

const tricky = fc.constantFrom(
  'developer',
  '"role":"developer"',
  '{"messages":[{"role":"developer","reasoning_content":"x"}]}',
  '\\',
  '"reasoning_content":',
  'messages',
  // Begin as the names do.
  'r',
  'role',
  'm',
);
const text = fc.oneof(fc.string({ unit: 'binary' }), tricky);
const message = fc.record(
  {
    reasoning_content: fc.oneof(text, fc.constant(null)),
    role: fc.constantFrom('developer', 'user', 'assistant'),
    content: fc.oneof(
      text,
      fc.array(fc.record({ type: fc.constant('text'), text, role: tricky }), { maxLength: 3 }),
    ),
    name: text,
    tool_calls: fc.array(fc.record({ function: fc.record({ arguments: text, role: tricky }) }), {
      maxLength: 2,
    }),
  },
  { requiredKeys: [] },
);
const body = fc.record({
  before: fc.oneof(
    text,
    fc.record({ role: fc.constant('developer'), messages: fc.array(message, { maxLength: 1 }) }),
  ),
  messages: fc.array(message, { maxLength: 5 }),
  tools: fc.array(fc.record({ role: fc.constant('developer'), reasoning_content: text }), { maxLength: 2 }),
});
const changes = fc.record({ mapsDeveloper: fc.boolean(), dropsThoughts: fc.boolean() });

it('changes a large body, of which it sees the bytes alone, as it changes a small one', () =>
  fc.assert(
    fc.asyncProperty(body, changes, async (given, wanted) => {
      expect(await changed(given, wanted, AS_BYTES)).toEqual(await changed(given, wanted, PARSED));
    }),
    fuzzRuns(),
  ));

it('changes messages and nothing that looks like them', async () => {
  const thinking = { role: 'assistant', reasoning_content: 'hm', content: 'Hi' };
  const given = {
    messages: [
      { role: 'developer', content: '"role":"developer"' },
      thinking,
      { ...thinking, role: 'developer' },
    ],
    tools: [{ role: 'developer', reasoning_content: 'kept' }],
  };
  const expected = {
    messages: [
      { role: 'system', content: '"role":"developer"' },
      { role: 'assistant', content: 'Hi' },
      { role: 'system', content: 'Hi' },
    ],
    tools: given.tools,
  };
  expect(await changed(given, BOTH, PARSED)).toEqual(expected);
  expect(await changed(given, BOTH, AS_BYTES)).toEqual(expected);
});

it.each([
  '{"role":"r"}]}',
  '{"content":"","role":"user"}]}',
  '{"content":"r"}]}',
  '{"content":""}],"model":"m"}',
])('looks no further than the end of a body that ends in %s', async (end) => {
  const bytes = Buffer.from(`{"messages":[{"role":"developer","reasoning_content":""},${end}`);
  const sent = await withKnownMessages(bytes, BOTH, turn, AS_BYTES);
  expect(Buffer.from(sent).toString()).toBe(`{"messages":[{"role":"system"},${end}`);
});

it('takes many turns of the event loop for megabytes', async () => {
  let turns = 0;
  const given = { messages: [{ role: 'developer', content: 'x'.repeat(5_000_000) }] };
  const bytes = await withKnownMessages(Buffer.from(JSON.stringify(given)), BOTH, async () => {
    turns += 1;
  });
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(Buffer.from(bytes.subarray(0, 40)).toString()).toContain('"role":"system"');
});

it('gives the same bytes back when there is nothing to change', async () => {
  const bytes = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }));
  expect(await withKnownMessages(bytes, BOTH, turn, AS_BYTES)).toBe(bytes);
});
