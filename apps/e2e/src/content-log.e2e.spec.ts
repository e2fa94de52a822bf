import type OpenAI from 'openai';
import { AdminCallFailed, eventually, signIn, type AdminClient, type Tenant } from '@gateway/test-support';
import { filesWith } from './testing/files-with';
import { PASSWORD, personWith, type Role } from './testing/people';
import { postRaw } from './testing/raw-stream';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(120_000);

/** A text that nothing else contains. The emulator's response repeats a part of the prompt. */
const MARKER = 'zanzibar-quokka-7741';
const MODEL = 'demo/standard';
const TOOL = {
  type: 'function' as const,
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

interface Content {
  readonly request: string;
  readonly request_cut: boolean;
  readonly response: string | null;
}

let testEnv: TestEnv;
let tenant: Tenant;
let owner: AdminClient;

beforeAll(async () => {
  testEnv = await startTestEnv({ env: { GATEWAY_CONTENT_LOG_MAX_BYTES: '4096' } });
  tenant = await testEnv.tenant();
  owner = await personOf('owner');
});
afterAll(() => testEnv?.stop());

async function personOf(role: Role): Promise<AdminClient> {
  const { organizationId } = tenant;
  const { dashboardUrl } = testEnv.gateway;
  const email = `${role}@example.com`;
  await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role });
  return signIn(dashboardUrl, email, PASSWORD);
}

const organization = (rest: string) => `/api/organizations/${tenant.organizationId}${rest}`;
const set = (enabled: boolean, erase = false, by = owner) =>
  by.call('PUT', organization('/content-log'), { enabled, retention_days: 7, erase });
const read = async (generationId: string, by = owner) =>
  (await by.call<{ content: Content }>('POST', organization(`/generations/${generationId}/content`), {}))
    .content;
const statusOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: unknown) => (error instanceof AdminCallFailed ? error.status : error),
  );
const contentOf = (generationId: string) =>
  eventually(`the content of ${generationId}`, () => read(generationId).catch(() => undefined));

const messages = [{ role: 'user' as const, content: `Repeat: ${MARKER}` }];
const chat = (more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  testEnv.client(tenant.apiKey).chat.completions.create({ model: MODEL, max_tokens: 60, messages, ...more });

/** Streams to the end. @returns the id and the text. */
async function streamed(): Promise<{ id: string; text: string }> {
  const stream = await testEnv
    .client(tenant.apiKey)
    .chat.completions.create({ model: MODEL, max_tokens: 60, messages, stream: true });
  let id = '';
  let text = '';
  for await (const chunk of stream) {
    id = chunk.id;
    text += chunk.choices[0]?.delta.content ?? '';
  }
  return { id, text };
}

/** The files of the gateway's state that contain the text: database, its log and the spool. */
const keptFilesWith = (text: string) => filesWith(testEnv.gateway.stateDirectory, text);

const settled = (generationId: string) =>
  eventually(`${generationId} is settled`, () =>
    owner.call('GET', organization(`/generations/${generationId}`)).catch(() => undefined),
  );

it('is off by default: no file of the gateway and no log line contains a prompt or a response', async () => {
  const { id } = await chat({ tools: [TOOL] });
  const { id: streamedId } = await streamed();
  await settled(id);
  await settled(streamedId);
  // The search finds what is stored.
  expect(keptFilesWith(id)).not.toEqual([]);
  expect(keptFilesWith(MARKER)).toEqual([]);
  expect(testEnv.gateway.output()).not.toContain(MARKER);
  expect(await statusOf(read(id))).toBe(404);
});

it('once an owner turns it on, stores prompts and responses of all kinds, encrypted', async () => {
  await set(true);
  const plain = await chat({ temperature: 0.5 });
  const stored = await contentOf(plain.id);
  expect(JSON.parse(stored.request)).toMatchObject({
    model: MODEL,
    messages,
    temperature: 0.5,
    max_tokens: 60,
  });
  const choices = ({ choices }: OpenAI.ChatCompletion) => choices.map(({ message }) => message.content);
  expect(choices(JSON.parse(stored.response ?? '') as OpenAI.ChatCompletion)).toEqual(choices(plain));

  const stream = await streamed();
  const ofStream = JSON.parse((await contentOf(stream.id)).response ?? '') as OpenAI.ChatCompletion;
  expect(choices(ofStream)).toEqual([stream.text]);

  const withTool = await chat({ tools: [TOOL], tool_choice: 'required' });
  const ofTool = JSON.parse((await contentOf(withTool.id)).response ?? '') as OpenAI.ChatCompletion;
  expect(ofTool.choices[0]?.message.tool_calls).toEqual(withTool.choices[0]?.message.tool_calls);
  expect(ofTool.choices[0]?.message.tool_calls).toHaveLength(1);

  const long = await chat({ messages: [{ role: 'user', content: `${MARKER} ${'word '.repeat(2_000)}` }] });
  expect(await contentOf(long.id)).toMatchObject({ request_cut: true });
  expect(keptFilesWith(MARKER)).toEqual([]);
  expect(testEnv.gateway.output()).not.toContain(MARKER);
});

it('stores what a client received until it disconnected', async () => {
  const stream = postRaw(testEnv.gateway.baseUrl, tenant.apiKey, {
    ...{ model: MODEL, max_tokens: 400, stream: true },
    messages: [{ role: 'user', content: `[[tokens:400]] [[rate:20]] ${MARKER}` }],
  });
  const received = await stream.until('"content":"');
  stream.close();
  const id = /"id":"(gen-[\w-]+)"/.exec(received)?.[1] ?? '';
  const { response } = await contentOf(id);
  const { choices } = JSON.parse(response ?? '') as OpenAI.ChatCompletion;
  expect(choices[0]?.finish_reason).toBeNull();
  const words = choices[0]?.message.content?.split(' ').length ?? 0;
  expect(words).toBeGreaterThan(0);
  expect(words).toBeLessThan(400);
});

it('is managed and read by owners only, and each access is in the audit log', async () => {
  const { id } = await chat();
  await contentOf(id);
  const others = [
    testEnv.admin,
    ...(await Promise.all((['admin', 'developer', 'billing', 'member'] as const).map(personOf))),
  ];
  for (const other of others) {
    expect(await statusOf(read(id, other))).toBe(403);
    expect(await statusOf(set(false, true, other))).toBe(403);
    expect(await statusOf(other.call('DELETE', organization('/content-log/contents'), {}))).toBe(403);
    const { content_log: state } = await other.call<{ content_log: { enabled: boolean } }>(
      'GET',
      organization('/content-log'),
    );
    expect(state.enabled).toBe(true);
  }
  expect((await read(id)).request).toContain(MARKER);
  const { data } = await owner.call<{ data: { action: string; target: string; actor: { label: string } }[] }>(
    'GET',
    organization('/audit?action=content_log.'),
  );
  expect(data.filter(({ target }) => target === id)).toEqual([
    expect.objectContaining({
      action: 'content_log.read',
      actor: expect.objectContaining({ label: 'owner@example.com' }),
    }),
    expect.objectContaining({ action: 'content_log.read' }),
  ]);
  expect(JSON.stringify(data)).not.toContain(MARKER);
});

it('erases one generation, then everything when it is turned off, also after a crash', async () => {
  const [first, second] = [await chat(), await chat()];
  await contentOf(first.id);
  await contentOf(second.id);
  await owner.call('DELETE', organization(`/generations/${first.id}/content`), {});
  expect(await statusOf(read(first.id))).toBe(404);
  await testEnv.crashAndRestart();
  owner = await signIn(testEnv.gateway.dashboardUrl, 'owner@example.com', PASSWORD);
  expect((await read(second.id)).request).toContain(MARKER);
  await set(false, true);
  expect(await statusOf(read(second.id))).toBe(404);
  const after = await chat();
  await settled(after.id);
  expect(await statusOf(read(after.id))).toBe(404);
});
