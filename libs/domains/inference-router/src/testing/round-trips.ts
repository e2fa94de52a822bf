import fc from 'fast-check';
import {
  createInProcessEmulator,
  type EmulatorRequest,
  type EmulatorResponse,
} from '@gateway/model-emulator';
import { agentRequests, toolNames } from './agent-conversations';
import { TARGET_OPTIONS } from './router-under-test';
import { completionsOf, renderCompletion, type Choice } from '../core/completion/completion';
import { CompletionStream } from '../core/completion/completion-stream';
import { asObject, parseJson } from '../core/completion/json';
import { normalizedDecoder, normalizedResponse } from '../core/completion/normalize-response';
import { UpstreamFailure } from '../core/failure/upstream-failure';
import { createEventParser } from '../core/framing/event-parser';
import type { EncodeCall, TargetOptions } from '../core/dialects/dialect';
import { dialects, type DialectName } from '../core/dialects/registry';
import { RestoredResponse } from '../core/dialects/restore-response';

/** For each of fuzzRuns: 10,000 for a dialect, divided between its vendors. */
const CONVERSATIONS = 5;

const HEAD = { generationId: 'gen-1', createdUnixS: 1, modelId: 'acme/m-1' };
const VERTEX = '/v1/projects/p/locations/l';
const BUDGETS = { low: 1_024, medium: 2_048 };
const CLAUDE = 'us.anthropic.emu-reasoner';

interface Vendor {
  readonly dialect: DialectName;
  /** Of the provider's address. */
  readonly base: string;
  readonly providerModel?: string;
  readonly options?: Partial<TargetOptions>;
}
const vendors: Readonly<Record<string, Vendor>> = {
  'servers with the protocol of OpenAI': { dialect: 'openai', base: '/v1' },
  OpenAI: {
    dialect: 'openai',
    base: '/openai/v1',
    options: { vendor: 'openai', maxTokensParameter: 'max_completion_tokens' },
  },
  'deployments of Azure': {
    dialect: 'openai',
    base: '/openai',
    options: { vendor: 'azure', host: 'azure_deployments' },
  },
  Mistral: {
    dialect: 'openai',
    base: '/mistral/v1',
    options: { vendor: 'mistral', refusesStreamOptions: true, developerAsSystem: true },
  },
  OpenRouter: {
    dialect: 'openai',
    base: '/v1',
    options: { vendor: 'openrouter', forwardReasoningContent: true },
  },
  Anthropic: { dialect: 'anthropic', base: '' },
  'Anthropic with budgets': { dialect: 'anthropic', base: '', options: { reasoningBudgets: BUDGETS } },
  'Claude of Vertex AI': { dialect: 'anthropic', base: VERTEX, options: { host: 'vertex' } },
  'Messages API of Bedrock': { dialect: 'anthropic', base: '/anthropic', options: { host: 'bedrock' } },
  'Google AI Studio': { dialect: 'gemini', base: '' },
  'Gemini of Vertex AI': { dialect: 'gemini', base: VERTEX, options: { host: 'vertex' } },
  'Claude of Bedrock': { dialect: 'converse', base: '', providerModel: CLAUDE },
  'Claude of Bedrock with budgets': {
    dialect: 'converse',
    base: '',
    providerModel: CLAUDE,
    options: { reasoningBudgets: BUDGETS },
  },
  'Nova of Bedrock': { dialect: 'converse', base: '', providerModel: 'amazon.nova.emu-reasoner' },
  'other models of Bedrock': { dialect: 'converse', base: '', providerModel: 'meta.emu-vision' },
};

let respond: (request: EmulatorRequest) => EmulatorResponse;

interface Message {
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

/** Sends a request, and returns the message of the response as the client gets it. */
async function complete(vendor: Vendor, stream: boolean, body: object): Promise<Message> {
  const { dialect: name, providerModel = 'emu-reasoner', options = {} } = vendor;
  const dialect = dialects[name];
  const call: EncodeCall = {
    providerModel,
    stream,
    maxOutputTokens: 3_000,
    n: 1,
    exactSeed: undefined,
    signer: JSON.stringify(vendor),
    ownsUntagged: false,
    options: { ...TARGET_OPTIONS, ...options },
  };
  const bytes = Buffer.from(JSON.stringify(body));
  const encoded = await dialect.encodeRequest(bytes, call, () => Promise.resolve());
  const text = Buffer.from(encoded).toString();
  const { pathname: path } = new URL(vendor.base + dialect.path(call), 'http://emulator');
  const { status, body: received } = respond({
    path,
    headers: { ...dialect.headers?.(call.options) },
    body: text,
  });
  if (status !== 200) throw new Error(`${received.toString()}\n${JSON.stringify(vendor)}\n${text}`);
  const choices = (stream ? streamedChoices : wholeChoices)(received, bytes, call, name);
  return (JSON.parse(renderCompletion(HEAD, choices, {})) as { choices: [{ message: Message }] }).choices[0]
    .message;
}

const normalization = (body: Buffer) => ({
  isIdInRequest: (id: string) => body.includes(JSON.stringify(id)),
});

function wholeChoices(
  received: Buffer,
  body: Buffer,
  call: EncodeCall,
  name: DialectName,
): readonly Choice[] {
  const dialect = dialects[name];
  const json = asObject(parseJson(received.toString())) ?? {};
  const restored = new RestoredResponse(body, dialect.rulesOf(call)).response(dialect.readResponse(json, 1));
  return completionsOf(normalizedResponse(restored, normalization(body)).choices, HEAD, call.signer);
}

function streamedChoices(
  received: Buffer,
  body: Buffer,
  call: EncodeCall,
  name: DialectName,
): readonly Choice[] {
  const dialect = dialects[name];
  const restored = new RestoredResponse(body, dialect.rulesOf(call)).decoder(dialect.createDecoder(1));
  const stream = new CompletionStream({
    head: HEAD,
    n: 1,
    includeUsage: false,
    decoder: normalizedDecoder(restored, normalization(body)),
    signer: call.signer,
    failureOf: ({ message }) => new UpstreamFailure('failed', { detail: message }),
  });
  const parser = createEventParser(dialect.framing);
  for (const event of [...parser.push(received), ...parser.end()]) if (!stream.done) stream.push(event);
  if (!stream.complete) throw new Error('the stream is incomplete');
  return stream.choices;
}

/**
 * Declares the round trips of a dialect: what an agent sends passes its vendors, and the message of the response can be
 * sent back to any vendor of any dialect.
 */
export function describeRoundTrips(dialect: DialectName, fuzz: { readonly numRuns: number }): void {
  const own = Object.entries(vendors).filter(([, vendor]) => vendor.dialect === dialect);
  const others = fc.constantFrom(...Object.values(vendors));
  const numRuns = Math.ceil((CONVERSATIONS * fuzz.numRuns) / own.length);

  beforeAll(async () => {
    respond = await createInProcessEmulator();
  });

  it.each(own)(
    'requests of agents pass %s, and its message passes every vendor',
    (_, vendor) =>
      fc.assert(
        fc.asyncProperty(
          agentRequests,
          fc.boolean(),
          others,
          fc.boolean(),
          async (body, stream, other, streamNext) => {
            const message = await complete(vendor, stream, body);
            const calls = message.tool_calls ?? [];
            for (const { function: called } of calls)
              if (!toolNames.includes(called.name)) throw new Error(`no tool is called ${called.name}`);
            const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }));
            // The next turn of a tool loop needs the signed reasoning of this one.
            const question = calls.length > 0 ? [] : [{ role: 'user', content: 'more [[tokens:4]]' }];
            const messages = [...body.messages, message, ...results, ...question];
            await complete(other, streamNext, { ...body, messages });
          },
        ),
        { numRuns },
      ),
    3_600_000,
  );
}
