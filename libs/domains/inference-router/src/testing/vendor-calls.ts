import {
  createInProcessEmulator,
  type EmulatorRequest,
  type EmulatorResponse,
} from '@gateway/model-emulator';
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

const HEAD = { generationId: 'gen-1', createdUnixS: 1, modelId: 'acme/m-1' };
const VERTEX = '/v1/projects/p/locations/l';
const BUDGETS = { low: 1_024, medium: 2_048 };
const CLAUDE = 'us.anthropic.emu-reasoner';

/** A host of models, and what the catalogue says of it. */
export interface Vendor {
  readonly dialect: DialectName;
  /** The base of the provider's address. */
  readonly base: string;
  readonly providerModel?: string;
  readonly options?: Partial<TargetOptions>;
}
export const vendors: Readonly<Record<string, Vendor>> = {
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

/** The response of a vendor, as the router returns it. */
interface VendorResponse {
  /** A chat.completion object without usage. */
  readonly completion: { readonly choices: readonly [{ readonly message: Message }] };
  /** The events of a stream. */
  readonly chunks: string;
}

interface Message {
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

/** Encodes a request as the router does, and lets the emulator check and complete it. Throws if the vendor refuses it. */
export type CallVendor = (vendor: Vendor, stream: boolean, body: Uint8Array) => Promise<VendorResponse>;

export async function createVendorCalls(): Promise<CallVendor> {
  const respond = await createInProcessEmulator();
  return (vendor, stream, body) => callVendor(respond, vendor, stream, body);
}

async function callVendor(
  respond: (request: EmulatorRequest) => EmulatorResponse,
  vendor: Vendor,
  stream: boolean,
  body: Uint8Array,
): Promise<VendorResponse> {
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
  const bytes = Buffer.from(body);
  const encoded = await dialect.encodeRequest(bytes, call, () => Promise.resolve());
  const text = Buffer.from(encoded).toString();
  const { pathname: path } = new URL(vendor.base + dialect.path(call), 'http://emulator');
  const { status, body: received } = respond({
    path,
    headers: { ...dialect.headers?.(call.options) },
    body: text,
  });
  if (status !== 200) throw new Error(`${received.toString()}\n${JSON.stringify(vendor)}\n${text}`);
  const { choices, chunks } = (stream ? streamed : whole)(received, bytes, call, name);
  const completion = JSON.parse(renderCompletion(HEAD, choices, {})) as VendorResponse['completion'];
  return { completion, chunks };
}

interface Read {
  readonly choices: readonly Choice[];
  readonly chunks: string;
}

const normalization = (body: Buffer) => ({
  isIdInRequest: (id: string) => body.includes(JSON.stringify(id)),
});

function whole(received: Buffer, body: Buffer, call: EncodeCall, name: DialectName): Read {
  const dialect = dialects[name];
  const json = asObject(parseJson(received.toString())) ?? {};
  const restored = new RestoredResponse(body, dialect.rulesOf(call)).response(dialect.readResponse(json, 1));
  const choices = completionsOf(normalizedResponse(restored, normalization(body)).choices, HEAD, call.signer);
  return { choices, chunks: '' };
}

function streamed(received: Buffer, body: Buffer, call: EncodeCall, name: DialectName): Read {
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
  let chunks = '';
  for (const event of [...parser.push(received), ...parser.end()])
    if (!stream.done) chunks += stream.push(event);
  if (!stream.complete) throw new Error('the stream is incomplete');
  return { choices: stream.choices, chunks };
}
