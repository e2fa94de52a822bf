import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { withKnownMessages, type MessageChanges } from './known-messages';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const BOTH: MessageChanges = { mapsDeveloper: true, dropsThoughts: true };

async function changed(body: object, changes: MessageChanges): Promise<unknown> {
  const bytes = await withKnownMessages(Buffer.from(JSON.stringify(body)), changes, turn);
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

interface Message {
  readonly role?: string;
  readonly reasoning_content?: unknown;
}

/** The same changes on the parsed body. */
function expected<Body extends { readonly messages: readonly Message[] }>(
  body: Body,
  { mapsDeveloper, dropsThoughts }: MessageChanges,
): object {
  const messages = body.messages.map(({ reasoning_content, ...rest }) => ({
    ...rest,
    ...(mapsDeveloper && rest.role === 'developer' ? { role: 'system' } : {}),
    ...(dropsThoughts || reasoning_content === undefined ? {} : { reasoning_content }),
  }));
  return { ...body, messages };
}

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

it('changes the bytes of a body as parsing, changing and writing it would', () =>
  fc.assert(
    fc.asyncProperty(body, changes, async (given, wanted) => {
      expect(await changed(given, wanted)).toEqual(JSON.parse(JSON.stringify(expected(given, wanted))));
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
  expect(await changed(given, BOTH)).toEqual({
    messages: [
      { role: 'system', content: '"role":"developer"' },
      { role: 'assistant', content: 'Hi' },
      { role: 'system', content: 'Hi' },
    ],
    tools: given.tools,
  });
});

it.each([
  '{"role":"r"}]}',
  '{"content":"","role":"user"}]}',
  '{"content":"r"}]}',
  '{"content":""}],"model":"m"}',
])('looks no further than the end of a body that ends in %s', async (end) => {
  const bytes = Buffer.from(`{"messages":[{"role":"developer","reasoning_content":""},${end}`);
  const sent = await withKnownMessages(bytes, BOTH, turn);
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
  expect(await withKnownMessages(bytes, BOTH, turn)).toBe(bytes);
});
