import fc from 'fast-check';
import { fuzzRuns, unicodeText } from '@gateway/test-support';
import { adaptMessages, type MessageAdaptation } from './adapt-messages';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const SIGNER = 'aaaaaaaaaaaa';
const ALL: MessageAdaptation = {
  mapsDeveloperRole: true,
  dropsReasoning: true,
  translatesCachePoints: true,
  signer: SIGNER,
  ownsUntagged: false,
};

async function changed(body: object, changes: MessageAdaptation): Promise<unknown> {
  const bytes = await adaptMessages(Buffer.from(JSON.stringify(body)), changes, turn);
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

interface Part {
  readonly cache_control?: unknown;
}

interface Message {
  readonly role?: string;
  readonly reasoning_content?: unknown;
  readonly reasoning_details?: unknown;
  readonly is_error?: unknown;
  readonly tool_calls?: readonly { readonly extra_content?: { readonly signed_by?: string } }[];
  readonly content?: unknown;
}

interface Body {
  readonly messages: readonly Message[];
  readonly tools?: readonly Part[];
}

/** Applies the same changes to the parsed body. */
function expected(
  body: Body,
  { mapsDeveloperRole, dropsReasoning, translatesCachePoints, signer, ownsUntagged }: MessageAdaptation,
): object {
  const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } };
  const translated = ({ cache_control: point, ...rest }: Part, by: object) =>
    point === undefined ? rest : { ...rest, ...(translatesCachePoints ? by : { cache_control: point }) };
  const messages = body.messages.map(
    ({ reasoning_content, reasoning_details: _, is_error: __, tool_calls: calls, content, ...rest }) => ({
      ...rest,
      tool_calls: calls?.map(({ extra_content: extra, ...call }) => {
        const { signed_by: by, ...kept } = extra ?? {};
        const isKept = extra && (by === undefined ? ownsUntagged : by === signer);
        return isKept ? { ...call, extra_content: kept } : call;
      }),
      content: Array.isArray(content)
        ? content.map((part: Part) => translated(part, rest.role === 'assistant' ? {} : breakpoint))
        : content,
      ...(mapsDeveloperRole && rest.role === 'developer' ? { role: 'system' } : {}),
      ...(dropsReasoning || reasoning_content === undefined ? {} : { reasoning_content }),
    }),
  );
  return { ...body, messages, tools: body.tools?.map((tool) => translated(tool, {})) };
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
const text = fc.oneof(unicodeText(), tricky);
const point = fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' });
const part = fc.record(
  { type: fc.constant('text'), text, role: tricky, cache_control: point },
  { requiredKeys: ['type', 'text'] },
);
// The edge writes the role first.
const message = fc.record(
  {
    role: fc.constantFrom('developer', 'user', 'assistant'),
    reasoning_content: fc.oneof(text, fc.constant(null)),
    content: fc.oneof(text, fc.array(part, { maxLength: 3 })),
    name: text,
    is_error: fc.constant(true),
    reasoning_details: fc.array(
      fc.record({ text, cache_control: point, extra_content: fc.record({ signed_by: text }) }),
      { maxLength: 2 },
    ),
    tool_calls: fc.array(
      fc.record(
        {
          extra_content: fc.record(
            {
              google: fc.record({ thought_signature: text }),
              signed_by: fc.constantFrom(SIGNER, 'bbbbbbbbbbbb'),
            },
            { requiredKeys: [] },
          ),
          function: fc.record({ arguments: text, role: tricky, extra_content: text, cache_control: point }),
          id: text,
        },
        { requiredKeys: [] },
      ),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const body = fc.record({
  before: fc.oneof(
    text,
    fc.record({ role: fc.constant('developer'), messages: fc.array(message, { maxLength: 1 }) }),
  ),
  messages: fc.array(message, { maxLength: 5 }),
  tools: fc.array(
    fc.record(
      { role: fc.constant('developer'), reasoning_content: text, cache_control: point },
      { requiredKeys: ['role'] },
    ),
    { maxLength: 2 },
  ),
});
const changes = fc.record({
  mapsDeveloperRole: fc.boolean(),
  dropsReasoning: fc.boolean(),
  translatesCachePoints: fc.boolean(),
  signer: fc.constant(SIGNER),
  ownsUntagged: fc.boolean(),
});

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
  expect(await changed(given, ALL)).toEqual({
    messages: [
      { role: 'system', content: '"role":"developer"' },
      { role: 'assistant', content: 'Hi' },
      { role: 'system', content: 'Hi' },
    ],
    tools: given.tools,
  });
});

it('sends cache points of input as breakpoints of OpenAI, and drops the others', async () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const prompt_cache_breakpoint = { mode: 'explicit' };
  const text = { type: 'text', text: 'Hi' };
  const given = {
    messages: [
      { role: 'user', content: [{ ...text, cache_control }, text] },
      { role: 'assistant', content: [{ ...text, cache_control }] },
      { role: 'tool', content: [{ ...text, cache_control }] },
    ],
    tools: [{ type: 'function', cache_control }],
  };
  expect(await changed(given, ALL)).toEqual({
    messages: [
      { role: 'user', content: [{ ...text, prompt_cache_breakpoint }, text] },
      { role: 'assistant', content: [text] },
      { role: 'tool', content: [{ ...text, prompt_cache_breakpoint }] },
    ],
    tools: [{ type: 'function' }],
  });
});

it.each([
  '{"role":"r"}]}',
  '{"content":"","role":"user"}]}',
  '{"content":"r"}]}',
  '{"content":""}],"model":"m"}',
])('does not read beyond a body that ends in %s', async (end) => {
  const bytes = Buffer.from(`{"messages":[{"role":"developer","reasoning_content":""},${end}`);
  const sent = await adaptMessages(bytes, ALL, turn);
  expect(Buffer.from(sent).toString()).toBe(`{"messages":[{"role":"system"},${end}`);
});

it('spreads megabytes over many turns of the event loop', async () => {
  let turns = 0;
  const given = { messages: [{ role: 'developer', content: 'x'.repeat(5_000_000) }] };
  const bytes = await adaptMessages(Buffer.from(JSON.stringify(given)), ALL, async () => {
    turns += 1;
  });
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(Buffer.from(bytes.subarray(0, 40)).toString()).toContain('"role":"system"');
});

it('returns the same bytes when nothing has to change', async () => {
  const bytes = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }));
  expect(await adaptMessages(bytes, ALL, turn)).toBe(bytes);
});
