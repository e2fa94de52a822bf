import { capabilities } from '@gateway/base';
import { dialectNames, dialects, hostsOf, type ModelFamily } from '@gateway/inference-router';
import {
  formatNames,
  requestFormats,
  validateChatRequest,
  type Field,
  type FormatName,
  type JsonObject,
  type JsonValue,
  type TokenCounter,
} from '@gateway/public-api';
import { isRefusal } from '@gateway/errors';
import { pdfDocument } from '@gateway/test-support';

type Shape = Field['shape'];

/** The most bytes that are sent per counted token: JSON of short values around English text. */
const BYTES_PER_TOKEN = 16;
/** Fields that are bounded and not counted, such as `logit_bias`. */
const UNCOUNTED_BYTES = 16_000;
const LONG = 40_000;
const MANY = 200;

const model = {
  id: 'acme/able',
  disabled: false,
  contextLength: 100_000_000,
  maxOutputTokens: 100,
  capabilities,
  reasoningEfforts: ['low'],
  prices: {
    inputNanoUsdPerMillion: 1n,
    cachedInputNanoUsdPerMillion: 1n,
    cacheWriteNanoUsdPerMillion: 1n,
    cacheWrite1hNanoUsdPerMillion: 1n,
    outputNanoUsdPerMillion: 1n,
    reasoningNanoUsdPerMillion: 1n,
    imageNanoUsdPerMillion: 1n,
    tiers: [],
  },
  writesCacheImplicitly: false,
  tokenCounting: {
    encoding: 'o200k_base',
    factor: 1,
    imageFormula: 'constant',
    imageTokens: 100,
    pageTokens: 1_500,
  },
  extraParameters: ['guided_regex'],
  forwardReasoningContent: true,
  targetPlaces: [{ provider: 'acme' }],
};
/** As tokenizers count: four characters per token, and a token per line. */
const tokenCounter: TokenCounter = {
  count: (text) => Math.max(Math.ceil(text.length / 4), text.split('\n').length),
  countSize: ({ bytes }) => Math.ceil(bytes / 4),
};

/** A text within the body, and how to build a value of the body around it. */
interface Leaf {
  readonly path: string;
  /** @param items of each list around the text. */
  readonly build: (text: string, items: number) => JsonValue;
}

/** Every text of a shape that the client chooses, names of free objects included. */
function leavesOf(shape: Shape, path: string): readonly Leaf[] {
  switch (shape.kind) {
    case 'text':
      if (shape.oneOf || shape.read) return [];
      return [
        { path, build: (text) => text.slice(0, shape.maxLength) },
        ...(PACKED.test(path) ? packedLeaves(path) : []),
      ];
    case 'list':
      return leavesOf(shape.items, `${path}[]`).map((leaf) => ({
        path: leaf.path,
        build: (text, items) =>
          Array.from({ length: Math.min(items, shape.maxItems ?? items) }, () => leaf.build(text, 1)),
      }));
    case 'record':
      return Object.entries(shape.members).flatMap(([name, member]) =>
        leavesOf(member.shape, `${path}.${name}`).map((leaf) => ({
          path: leaf.path,
          build: (text: string, items: number) => ({
            ...(exampleOf(shape) as JsonObject),
            [name]: leaf.build(text, items),
          }),
        })),
      );
    case 'variants':
      return [...shape.variants].flatMap(([value, variant]) =>
        leavesOf(variant, `${path}(${value})`)
          .filter((leaf) => leaf.path !== `${path}(${value}).${shape.tag}`)
          .map((leaf) => ({
            path: leaf.path,
            build: (text: string, items: number) => ({
              ...(leaf.build(text, items) as JsonObject),
              [shape.tag]: value,
            }),
          })),
      );
    case 'textOr':
      return [...leavesOf(shape.text, path), ...leavesOf(shape.other, path)];
    case 'either':
      return shape.shapes.flatMap((each) => leavesOf(each, path));
    case 'map':
      return [
        {
          path,
          build: (_text, items) =>
            Object.fromEntries(
              Array.from({ length: Math.min(items, shape.maxEntries) }, (_, index) => [
                `${index}`,
                valueOf(shape.values),
              ]),
            ),
        },
      ];
    case 'object':
      return freeObject(path, shape.maxCharacters);
    default:
      return [];
  }
}

/** What dialects read of signed reasoning and tool calls is among the names. */
function freeObject(path: string, maxCharacters: number | undefined): readonly Leaf[] {
  const bounded = (text: string) => text.slice(0, (maxCharacters ?? LONG) - 10);
  const anything: readonly Leaf[] = [
    { path: `${path}.*`, build: (text) => ({ any: bounded(text) }) },
    { path: `${path}{}`, build: (text) => ({ [bounded(text)]: 1 }) },
  ];
  if (maxCharacters !== undefined) return anything;
  return [
    ...anything,
    { path: `${path}(text)`, build: (text) => ({ type: 'reasoning.text', index: 0, text, signature: 'c' }) },
    { path: `${path}(signature)`, build: (text) => ({ type: 'reasoning.text', text: 't', signature: text }) },
    { path: `${path}(data)`, build: (text) => ({ type: 'reasoning.encrypted', data: text }) },
    { path: `${path}(thought)`, build: (text) => ({ google: { thought_signature: text } }) },
  ];
}

const PDF_DATA = pdfDocument().toString('base64');
const PDF_URI = `data:application/pdf;base64,${PDF_DATA}`;
const isPdfSource = ({ media_type: type }: Readonly<Record<string, { readonly shape: Shape }>>) =>
  type?.shape.kind === 'text' && type.shape.oneOf?.[0] === 'application/pdf';

const valueOf = (shape: Shape): JsonValue => (shape.kind === 'number' ? 1 : exampleOf(shape));

/** A text that may be packed: what it has then is sent. */
function packedLeaves(path: string): readonly Leaf[] {
  const pack = (reasoning: object) => `gw1.${Buffer.from(JSON.stringify(reasoning)).toString('base64url')}`;
  return freeObject(path, undefined).map((leaf) => ({
    path: leaf.path,
    build: (text) => pack({ details: [leaf.build(text, 1)], calls: { a: leaf.build(text, 1) } }),
  }));
}

const PACKED = /\((?:redacted_thinking|thinking|reasoning)\)\.(?:data|signature|encrypted_content)$/;

/** The smallest valid value. */
function exampleOf(shape: Shape): JsonValue {
  switch (shape.kind) {
    case 'text':
      return shape.oneOf?.[0] ?? (shape.checkPattern?.startsWith('^data:application/pdf') ? PDF_URI : 'a');
    case 'number':
      return shape.min ?? 0;
    case 'boolean':
      return false;
    case 'list':
      return [exampleOf(shape.items)];
    case 'record':
      if (isPdfSource(shape.members)) return { media_type: 'application/pdf', data: PDF_DATA };
      return Object.fromEntries(
        Object.entries(shape.members)
          .filter(([, member]) => member.required)
          .map(([name, member]) => [name, exampleOf(member.shape)]),
      );
    case 'variants': {
      const [[value, variant]] = [...shape.variants] as [[string, Shape]];
      return { ...(exampleOf(variant) as JsonObject), [shape.tag]: value };
    }
    case 'textOr':
      return exampleOf(shape.text);
    case 'either':
      return exampleOf(shape.shapes[0] as Shape);
    case 'map':
    case 'object':
      return {};
    case 'any':
      return 'a';
  }
}

const user: JsonValue = { role: 'user', content: 'hi' };
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const tool = { type: 'function', function: { name: 'f' } };
const result = (id: string): JsonValue => ({ role: 'tool', tool_call_id: id, content: 'r' });

/** Bodies of each format with a text of a field. */
const bodiesIn: Readonly<
  Record<FormatName, (field: Field, leaf: Leaf, text: string, items: number) => readonly JsonObject[]>
> = {
  chat: bodiesOf,
  messages: (field, leaf, text, items) => {
    const value = leaf.build(text, items);
    const named = { name: 'f', input_schema: {} };
    if (field.name === 'tool_choice') {
      const { name = 'f' } = value as JsonObject;
      return [{ messages: [user], tool_choice: value, tools: [{ ...named, name }] }];
    }
    if (field.name !== 'messages') return [{ messages: [user], [field.name]: value }];
    return inConversations(value as JsonObject[], (messages) => ({ messages, tools: [named] }));
  },
  responses: (field, leaf, text, items) => {
    const value = leaf.build(text, items);
    const named = { type: 'function', name: 'f' };
    if (field.name === 'tool_choice' && typeof value === 'object') {
      const { tools = [value] } = value as { tools?: JsonValue[] };
      return [{ input: 'hi', tool_choice: value, tools }];
    }
    if (field.name !== 'input') return [{ input: 'hi', [field.name]: value }];
    if (typeof value === 'string') return [{ input: value }];
    return inConversations(value as JsonObject[], (input) => ({ input, tools: [named] }));
  },
  embeddings: (field, leaf, text, items) => [{ input: 'hi', [field.name]: leaf.build(text, items) }],
};

/** With what surrounds the items of a conversation, with and without definitions of tools. */
function inConversations(
  given: readonly JsonObject[],
  bodyOf: (conversation: JsonValue[]) => JsonObject,
): readonly JsonObject[] {
  const spoken: JsonValue = { role: 'assistant', content: 'ok' };
  return [
    [user, ...given],
    [user, ...given, spoken, user],
    [user, ...given.flatMap((item) => [item, spoken]), user],
  ].flatMap((conversation) => {
    const { tools, ...body } = bodyOf(conversation);
    return [body, { ...body, tools: tools as JsonValue }];
  });
}

/** Bodies with a text of a field: with and without definitions of tools, since dialects then write calls differently. */
function bodiesOf(field: Field, leaf: Leaf, text: string, items: number): readonly JsonObject[] {
  const value = leaf.build(text, items);
  if (field.name !== 'messages') {
    const messages = [user];
    if (field.name === 'tool_choice' && typeof value === 'object') {
      const choice = value as { function?: JsonValue; allowed_tools?: { tools: JsonValue[] } };
      const tools = choice.allowed_tools?.tools ?? [{ type: 'function', function: choice.function ?? {} }];
      return [{ messages, tool_choice: value, tools }];
    }
    return [{ messages, [field.name]: value }];
  }
  const given = (value as JsonObject[]).map((message) =>
    message['role'] === 'assistant' ? { content: 'ok', ...message } : message,
  );
  const conversations: JsonValue[][] = [
    [user, ...given],
    // A dialect may repeat what a call names for each result.
    ...given
      .slice(0, 1)
      .flatMap(({ tool_calls: calls }) =>
        Array.isArray(calls) ? (calls as (typeof call)[]).slice(0, 1) : [],
      )
      .map((first) => [
        user,
        { role: 'assistant', tool_calls: [first] },
        ...Array.from({ length: MANY }, () => result(first.id)),
      ]),
    // The results of calls that are known.
    [user, { role: 'assistant', tool_calls: [call] }, result('call_1'), ...given],
    [user, { role: 'assistant', content: 'ok', tool_calls: [call] }, ...given, user],
  ];
  return conversations.flatMap((messages): JsonObject[] => [{ messages }, { messages, tools: [tool] }]);
}

const options = {
  maxTokensParameter: 'max_tokens',
  developerAsSystem: false,
  forwardReasoningContent: true,
  host: undefined,
  drops: [],
  reasoningBudgets: undefined,
} as const;
/** A model of each family that Bedrock's requests differ for. */
const BEDROCK_MODELS: Readonly<Record<ModelFamily, string>> = {
  anthropic: 'anthropic.claude-1',
  nova: 'amazon.nova-1',
  openai: 'openai.gpt-1',
  qwen: 'qwen.qwen-1',
  other: 'acme-1',
  unknown: 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/a',
};
/** Where and as which models each dialect is spoken. */
const places = dialectNames.flatMap((name) =>
  [undefined, ...hostsOf[name]].flatMap((host) =>
    (name === 'converse' ? Object.values(BEDROCK_MODELS) : ['acme-1']).map((providerModel) => ({
      name,
      host,
      providerModel,
    })),
  ),
);

const targets = places.map(({ name, host, providerModel }) => {
  const dialect = dialects[name];
  return {
    name: `${name} ${host ?? ''} ${providerModel}`,
    dialect,
    call: {
      providerModel,
      stream: true,
      maxOutputTokens: 100,
      n: 1,
      exactSeed: undefined,
      signer: 'signer',
      ownsUntagged: true,
      options: { ...options, host },
    },
  };
});

type Target = (typeof targets)[number];

/** The targets whose provider has embeddings of the model. */
const embeddingTargets = [...targets, ...bedrockTargets()].filter(
  ({ dialect, call }) =>
    dialect.embeddings !== undefined && dialect.embeddings.problemOf?.(call) === undefined,
);

function bedrockTargets(): readonly Target[] {
  const [first] = targets.filter(({ dialect }) => dialect === dialects.converse);
  if (!first) throw new Error('the dialects of this test have none of Bedrock');
  return ['amazon.titan-embed-text-v2:0', 'cohere.embed-v4:0'].map((providerModel) => ({
    ...first,
    name: providerModel,
    call: { ...first.call, providerModel: providerModel as typeof first.call.providerModel },
  }));
}

const extra: Field = { name: 'guided_regex', disposition: 'forward', shape: { kind: 'text' }, doc: '' };

/** The bytes of a document are no text. */
const COUNTED_BY_PAGE = /\(document\)\.source\(base64\)\.data$/;

function leavesIn(format: FormatName): readonly { readonly field: Field; readonly leaf: Leaf }[] {
  return [
    ...requestFormats[format].fields
      .filter(({ disposition }) => disposition !== 'reject')
      .flatMap((field) =>
        leavesOf(field.shape, field.name)
          .filter(({ path }) => !COUNTED_BY_PAGE.test(path))
          .map((leaf) => ({ field, leaf })),
      ),
    { field: extra, leaf: { path: extra.name, build: (text) => text } },
    { field: extra, leaf: { path: `${extra.name}.*`, build: (text) => ({ any: [text] }) } },
  ];
}

/** Texts that are refused: levels of reasoning are those of the model, and images are checked. */
const REFUSED: Readonly<Record<FormatName, readonly string[]>> = {
  chat: ['reasoning_effort'],
  messages: [
    'messages[](user).content[](image).source(base64).data',
    'messages[](user).content[](image).source(url).url',
    'messages[](user).content[](tool_result).content[](image).source(base64).data',
    'messages[](user).content[](tool_result).content[](image).source(url).url',
  ],
  responses: ['reasoning.effort'],
  embeddings: [],
};

const VALUES: readonly (readonly [how: string, text: string, items: number])[] = [
  ['one long text', 'x'.repeat(LONG), 1],
  ['many short texts', 'x', MANY],
  ['many texts', 'x'.repeat(200), MANY],
];

async function encodedBytes(
  { dialect, call }: Target,
  bodyJson: Buffer,
  isEmbedding: boolean,
): Promise<number> {
  if (!isEmbedding) return (await dialect.encodeRequest(bodyJson, call, () => Promise.resolve())).length;
  const { input, dimensions, ...extra } = JSON.parse(bodyJson.toString()) as {
    readonly input: string[];
    readonly dimensions: number;
  };
  const size = dialect.embeddings?.maxInputs(call) ?? 1;
  let bytes = 0;
  for (let at = 0; at < input.length; at += size) {
    const part = { input: input.slice(at, at + size), dimensions, extra };
    bytes += Buffer.byteLength(JSON.stringify(dialect.embeddings?.encode(part, call)));
  }
  return bytes;
}

/** The most bytes that any target is sent per counted token, and the targets that were sent anything. */
async function worstOf(
  body: JsonObject,
  format: FormatName,
): Promise<{ readonly bytesPerToken: number; readonly sent: number }> {
  const isEmbedding = format === 'embeddings';
  const request = await validateChatRequest(
    { model: model.id, ...body },
    {
      policy: { allowedModels: [], multipleCompletions: false, jsonStreaming: false },
      findModel: () => (isEmbedding ? { ...model, embeddingDimensions: [8, 4] } : model) as never,
      tokenCounter,
      pageCounter: {
        count: async (documents) => ({
          kind: 'counted',
          documents: documents.map(() => ({ pages: 1, characters: 0 })),
        }),
      },
      format,
    },
  );
  if (isRefusal(request)) return { bytesPerToken: 0, sent: 0 };
  let bytes = 0;
  let sent = 0;
  for (const target of isEmbedding ? embeddingTargets : targets) {
    try {
      const encoded = await encodedBytes(target, request.bodyJson, isEmbedding);
      bytes = Math.max(bytes, encoded);
      sent += 1;
    } catch (error) {
      // A request that the dialect cannot express is not sent.
      if ((error as { kind?: unknown }).kind !== 'rejected') throw error;
    }
  }
  return { bytesPerToken: Math.max(0, bytes - UNCOUNTED_BYTES) / request.estimatedInputTokens, sent };
}

describe.each(formatNames)('what is sent to a provider is counted, in the format %s', (format) => {
  const leaves = leavesIn(format);

  it.each(leaves.map((each) => [each.leaf.path, each] as const))('%s', async (_path, { field, leaf }) => {
    for (const [how, text, items] of VALUES) {
      for (const body of bodiesIn[format](field, leaf, text, items)) {
        const { bytesPerToken } = await worstOf(body, format);
        if (bytesPerToken > BYTES_PER_TOKEN) {
          const shown = JSON.stringify(body).slice(0, 300);
          throw new Error(`${how}: ${bytesPerToken.toFixed(1)} bytes per token of ${shown}`);
        }
      }
    }
  });

  it('is tested with every text of the schema that reaches a provider', async () => {
    const reached = new Set<string>();
    for (const { field, leaf } of leaves)
      for (const body of bodiesIn[format](field, leaf, 'x', 1))
        if ((await worstOf(body, format)).sent > 0) reached.add(leaf.path);
    const missed = leaves.map(({ leaf }) => leaf.path).filter((path) => !reached.has(path));
    expect(missed).toEqual(REFUSED[format]);
  });
});
