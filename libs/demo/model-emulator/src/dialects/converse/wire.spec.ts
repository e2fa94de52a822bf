import { request as httpRequest } from 'node:http';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseCommandInput,
  type ConverseStreamOutput,
  type ContentBlock,
} from '@aws-sdk/client-bedrock-runtime';
import { startModelEmulator, type ModelEmulator } from '../../index';

let emulator: ModelEmulator;
let client: BedrockRuntimeClient;

beforeAll(async () => {
  emulator = await startModelEmulator({ apiKeys: ['AKIDEXAMPLE'] });
  client = createClient('AKIDEXAMPLE');
});
afterAll(async () => {
  client.destroy();
  await emulator.close();
});
beforeEach(() => emulator.reset());

interface SdkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array;
}

/** The SDK's own handler speaks HTTP/2, which the emulator does not. */
const http1 = {
  handle: ({ method, path, headers, body }: SdkRequest) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({ port: emulator.port, method, path, headers, agent: false }, (response) =>
        resolve({ response: { statusCode: response.statusCode, headers: response.headers, body: response } }),
      );
      sent.on('error', reject);
      sent.end(body);
    }),
};

function createClient(accessKeyId: string): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${emulator.port}`,
    credentials: { accessKeyId, secretAccessKey: 'secret' },
    maxAttempts: 1,
    requestHandler: http1 as never,
  });
}

function input(text: string, more: Partial<ConverseCommandInput> = {}): ConverseCommandInput {
  return { modelId: 'emu-standard', messages: [{ role: 'user', content: [{ text }] }], ...more };
}

interface Streamed {
  content: string;
  reasoning: string;
  signature: string;
  redacted: number;
  arguments: string;
  events: ConverseStreamOutput[];
}

async function stream(request: ConverseCommandInput): Promise<Streamed> {
  const { stream: events } = await client.send(new ConverseStreamCommand(request));
  const read: Streamed = {
    content: '',
    reasoning: '',
    signature: '',
    redacted: 0,
    arguments: '',
    events: [],
  };
  for await (const event of events ?? []) {
    read.events.push(event);
    const delta = event.contentBlockDelta?.delta;
    read.content += delta?.text ?? '';
    read.reasoning += delta?.reasoningContent?.text ?? '';
    read.signature += delta?.reasoningContent?.signature ?? '';
    read.redacted += delta?.reasoningContent?.redactedContent?.length ?? 0;
    read.arguments += delta?.toolUse?.input ?? '';
  }
  return read;
}

const tools = [
  {
    toolSpec: {
      name: 'weather',
      inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    },
  },
];
const adaptive = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } };

describe('the emulator, driven by the SDK of Bedrock', () => {
  it('returns the same text, stop reason and usage with and without a stream', async () => {
    const response = await client.send(new ConverseCommand(input('Hello there')));
    const text = response.output?.message?.content?.[0]?.text;
    expect(text).toContain('Hello there');
    expect(response.stopReason).toBe('end_turn');
    const { inputTokens = 0, outputTokens = 0, totalTokens } = response.usage ?? {};
    expect(outputTokens).toBeGreaterThan(10);
    expect(totalTokens).toBe(inputTokens + outputTokens);

    const { content, events } = await stream(input('Hello there'));
    expect(content).toBe(text);
    expect(events[0]?.messageStart?.role).toBe('assistant');
    expect(events.at(-2)?.messageStop?.stopReason).toBe('end_turn');
    expect(events.at(-1)?.metadata?.usage).toEqual(response.usage);
  });

  it('calls tools and reads their results', async () => {
    const request = input('What is the weather?', { toolConfig: { tools, toolChoice: { any: {} } } });
    const response = await client.send(new ConverseCommand(request));
    expect(response.stopReason).toBe('tool_use');
    const [block] = response.output?.message?.content ?? [];
    const { toolUseId, name, input: args } = block?.toolUse ?? {};
    expect(name).toBe('weather');
    expect(args).toEqual({ city: expect.any(String) });
    expect(JSON.parse((await stream(request)).arguments)).toEqual(args);

    const result: ContentBlock = { toolResult: { toolUseId, content: [{ text: 'Sunny' }] } };
    const next = await client.send(
      new ConverseCommand({
        ...request,
        toolConfig: { tools },
        messages: [
          ...(request.messages ?? []),
          { role: 'assistant', content: [block as ContentBlock] },
          { role: 'user', content: [result] },
        ],
      }),
    );
    expect(next.output?.message?.content?.[0]?.text).toContain('The tool returned a result');
  });

  it('reasons with a signature that it verifies, or in redacted blocks', async () => {
    const request = input('Think', {
      modelId: 'us.anthropic.emu-reasoner',
      additionalModelRequestFields: adaptive,
    });
    const response = await client.send(new ConverseCommand(request));
    const [block, output] = response.output?.message?.content ?? [];
    const { text = '', signature = '' } = block?.reasoningContent?.reasoningText ?? {};
    expect(text).not.toBe('');
    expect(await stream(request)).toMatchObject({ reasoning: text, signature, content: output?.text });

    const follow = (signed: string) =>
      client.send(
        new ConverseCommand({
          ...request,
          messages: [
            ...(request.messages ?? []),
            {
              role: 'assistant',
              content: [
                { reasoningContent: { reasoningText: { text, signature: signed } } },
                { text: 'Done' },
              ],
            },
            { role: 'user', content: [{ text: 'Go on' }] },
          ],
        }),
      );
    expect((await follow(signature)).stopReason).toBe('end_turn');
    await expect(follow('foreign')).rejects.toMatchObject({ name: 'ValidationException' });

    const quiet = { ...request, modelId: 'emu-reasoner-quiet' };
    expect((await stream(quiet)).redacted).toBeGreaterThan(0);
  });

  it.each(['us.anthropic.emu-reasoner', 'us.anthropic.emu-reasoner-quiet'])(
    'continues a loop of tool calls with the reasoning of %s',
    async (modelId) => {
      const request = input('What is the weather?', {
        modelId,
        toolConfig: { tools },
        additionalModelRequestFields: adaptive,
      });
      const response = await client.send(new ConverseCommand(request));
      const content = response.output?.message?.content ?? [];
      const toolUseId = content.at(-1)?.toolUse?.toolUseId;
      expect(content[0]?.reasoningContent).toBeDefined();
      const resume = (sent: ContentBlock[]) =>
        client.send(
          new ConverseCommand({
            ...request,
            messages: [
              ...(request.messages ?? []),
              { role: 'assistant', content: sent },
              { role: 'user', content: [{ toolResult: { toolUseId, content: [{ text: 'Sunny' }] } }] },
            ],
          }),
        );
      expect((await resume(content)).stopReason).toBe('end_turn');
      const foreign = { reasoningText: { text: 'Other', signature: 'foreign' } };
      await expect(resume([{ reasoningContent: foreign }, ...content.slice(1)])).rejects.toMatchObject({
        name: 'ValidationException',
      });
    },
  );

  it('writes and reads its cache at cache points, by lifetime', async () => {
    const long = 'All of this is cached. '.repeat(400);
    const request = input('And this is not.', {
      system: [{ text: long }, { cachePoint: { type: 'default', ttl: '1h' } }],
    });
    const first = (await client.send(new ConverseCommand(request))).usage;
    const second = (await client.send(new ConverseCommand(request))).usage;
    const written = first?.cacheWriteInputTokens ?? 0;
    expect(written).toBeGreaterThan(1_024);
    expect(first).toMatchObject({
      cacheReadInputTokens: 0,
      cacheDetails: [{ ttl: '1h', inputTokens: written }],
    });
    expect(second).toMatchObject({
      cacheReadInputTokens: written,
      cacheWriteInputTokens: 0,
      cacheDetails: [],
    });
    expect(second?.inputTokens).toBe(first?.inputTokens);
    expect(second?.totalTokens).toBe(first?.totalTokens);
  });

  it('follows a JSON schema', async () => {
    const schema = JSON.stringify({
      additionalProperties: false,
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
    });
    const textFormat = { type: 'json_schema' as const, structure: { jsonSchema: { name: 'N', schema } } };
    const { content } = await stream(input('Count', { outputConfig: { textFormat } }));
    expect(JSON.parse(content)).toEqual({ n: expect.any(Number) });
  });

  it('stops at the output limit and at stop sequences', async () => {
    const limited = await client.send(
      new ConverseCommand(input('Hi', { inferenceConfig: { maxTokens: 5 } })),
    );
    expect(limited).toMatchObject({ stopReason: 'max_tokens', usage: { outputTokens: 5 } });
    const stopped = await stream(
      input('[[say:one two three]]', { inferenceConfig: { stopSequences: [' two'] } }),
    );
    expect(stopped.content).toBe('one');
  });

  it.each<[string, string, Partial<ConverseCommandInput>]>([
    ['an unknown model', 'ValidationException', { modelId: 'us.does-not-exist-model-v1:0' }],
    ['a blank text', 'ValidationException', { messages: [{ role: 'user', content: [{ text: ' ' }] }] }],
    [
      'two messages of one role',
      'ValidationException',
      {
        messages: [
          { role: 'user', content: [{ text: 'a' }] },
          { role: 'user', content: [{ text: 'b' }] },
        ],
      },
    ],
    ['a temperature above 1', 'ValidationException', { inferenceConfig: { temperature: 1.5 } }],
    [
      'tool calls without tools',
      'ValidationException',
      {
        messages: [
          { role: 'user', content: [{ text: 'a' }] },
          { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'weather', input: {} } }] },
          { role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [] } }] },
        ],
      },
    ],
  ])('refuses %s', async (_case, name, more) => {
    await expect(client.send(new ConverseCommand(input('Hi', more)))).rejects.toMatchObject({ name });
    await expect(client.send(new ConverseStreamCommand(input('Hi', more)))).rejects.toMatchObject({ name });
  });

  it('refuses an unknown access key', async () => {
    const other = createClient('AKIDEXAMPLE2');
    await expect(other.send(new ConverseCommand(input('Hi')))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
    other.destroy();
  });

  it.each([
    ['400', 'ValidationException'],
    ['403', 'AccessDeniedException'],
    ['404', 'ResourceNotFoundException'],
    ['408', 'ModelTimeoutException'],
    ['429', 'ThrottlingException'],
    ['500', 'InternalServerException'],
    ['503', 'ServiceUnavailableException'],
    ['context-length', 'ValidationException'],
  ])('fails with the fault %s as %s', async (fault, name) => {
    const request = input(`[[fault:${fault}]]`);
    await expect(client.send(new ConverseCommand(request))).rejects.toMatchObject({ name });
    await expect(client.send(new ConverseStreamCommand(request))).rejects.toMatchObject({ name });
  });

  it.each(['cut-after:2', 'malformed-chunk:2', 'error-event:2'])(
    'breaks a stream with the fault %s',
    async (fault) => {
      await expect(stream(input(`[[fault:${fault}]]`))).rejects.toThrow();
    },
  );

  it('ends a stream early, without its stop reason', async () => {
    const { events } = await stream(input('[[fault:end-early:2]]'));
    expect(events).toHaveLength(3);
  });

  it('reports its usage missing or wrong by a fault, and filtered content', async () => {
    const none = await stream(input('[[fault:no-usage]]'));
    expect(none.events.at(-1)?.metadata?.usage).toBeUndefined();
    const wrong = await client.send(new ConverseCommand(input('[[fault:wrong-usage:7:9]]')));
    expect(wrong.usage).toMatchObject({ inputTokens: 7, outputTokens: 9 });
    const filtered = await client.send(new ConverseCommand(input('[[fault:content-filter]]')));
    expect(filtered.stopReason).toBe('content_filtered');
  });

  it('sends a stream byte by byte by a fault', async () => {
    const { content } = await stream(input('[[fault:byte-by-byte]][[say:Grüße 👋]]'));
    expect(content).toBe('Grüße 👋');
  });
});
