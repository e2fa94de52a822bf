import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { adaptMessages, type MessageAdaptation } from './adapt-messages';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const BOTH: MessageAdaptation = { mapsDeveloperRole: true, dropsReasoning: true };

async function changed(body: object, changes: MessageAdaptation): Promise<unknown> {
  const bytes = await adaptMessages(Buffer.from(JSON.stringify(body)), changes, turn);
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

interface Message {
  readonly role?: string;
  readonly reasoning_content?: unknown;
}

/** Applies the same changes to the parsed body. */
function expected<Body extends { readonly messages: readonly Message[] }>(
  body: Body,
  { mapsDeveloperRole, dropsReasoning }: MessageAdaptation,
): object {
  const messages = body.messages.map(({ reasoning_content, ...rest }) => ({
    ...rest,
    ...(mapsDeveloperRole && rest.role === 'developer' ? { role: 'system' } : {}),
    ...(dropsReasoning || reasoning_content === undefined ? {} : { reasoning_content }),
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
  // Prefixes of the field names.
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
const changes = fc.record({ mapsDeveloperRole: fc.boolean(), dropsReasoning: fc.boolean() });

it('edits the bytes of a body with the same result as parsing and serializing it', () =>
  fc.assert(
    fc.asyncProperty(body, changes, async (given, wanted) => {
      expect(await changed(given, wanted)).toEqual(JSON.parse(JSON.stringify(expected(given, wanted))));
    }),
    fuzzRuns(),
  ));

it('changes only messages, not text or fields that resemble them', async () => {
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
])('does not read beyond a body that ends in %s', async (end) => {
  const bytes = Buffer.from(`{"messages":[{"role":"developer","reasoning_content":""},${end}`);
  const sent = await adaptMessages(bytes, BOTH, turn);
  expect(Buffer.from(sent).toString()).toBe(`{"messages":[{"role":"system"},${end}`);
});

it('spreads megabytes over many turns of the event loop', async () => {
  let turns = 0;
  const given = { messages: [{ role: 'developer', content: 'x'.repeat(5_000_000) }] };
  const bytes = await adaptMessages(Buffer.from(JSON.stringify(given)), BOTH, async () => {
    turns += 1;
  });
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(Buffer.from(bytes.subarray(0, 40)).toString()).toContain('"role":"system"');
});

it('returns the same bytes when nothing has to change', async () => {
  const bytes = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }));
  expect(await adaptMessages(bytes, BOTH, turn)).toBe(bytes);
});
