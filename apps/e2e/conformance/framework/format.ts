import assert from 'node:assert/strict';
import { eventDataOf } from '@gateway/test-support';
import type { PublicUsage } from '../../src/testing/accounting';
import type { ErrorBody, RawResponse } from './raw-response';

export const otherFormats = ['messages', 'responses', 'embeddings'] as const;
export type OtherFormat = (typeof otherFormats)[number];

type Json = Record<string, unknown>;

/** What every format has in a response, in the members of a chat completion. */
interface Completion {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly { readonly finish_reason: string | null; readonly text: string }[];
  readonly usage: PublicUsage;
}

/** A complete stream. */
interface ReadStream {
  readonly text: string;
  /** The text as it arrived. */
  readonly parts: readonly string[];
  /** The error of the event with which the stream failed. */
  readonly error: ErrorBody['error'] | undefined;
  readonly usage: PublicUsage | undefined;
}

/** Where a document is, in the terms of no format. */
export type DocumentSource =
  { readonly base64: string } | { readonly url: string } | { readonly fileId: string };

/** A public format, so that a case that is written for chat completions runs in each. */
export interface PublicFormat {
  readonly path: string;
  /** The request of a chat completion in this format. */
  readonly requestOf: (chat: Json) => Json;
  /** A document as a part of a message's content. */
  readonly documentPart: (source: DocumentSource) => Json;
  /** A successful response as a chat completion. */
  readonly completionOf: (response: Json, headers: RawResponse['headers']) => Completion | Json;
  /** Members next to `error` in the envelope. */
  readonly envelope: Json;
  readonly streamOf: (response: RawResponse) => ReadStream;
}

const eventsOf = (response: RawResponse): Json[] =>
  eventDataOf(response.text)
    .filter((event) => event !== '[DONE]')
    .map((event) => JSON.parse(event) as Json);

const textOf = (parts: readonly { readonly text?: string }[] = []) =>
  parts.map(({ text = '' }) => text).join('');

const ofParts = (all: readonly (string | null | undefined)[]) => {
  const parts = all.filter((part) => typeof part === 'string' && part !== '') as string[];
  return { parts, text: parts.join('') };
};

interface JsonSchemaFormat {
  readonly type: string;
  readonly json_schema?: { readonly name: string; readonly schema: Json };
}

const PDF = 'application/pdf';

const uriOf = (source: Exclude<DocumentSource, { fileId: string }>) =>
  'url' in source ? source.url : `data:${PDF};base64,${source.base64}`;

const chatFormat: PublicFormat = {
  path: '/v1/chat/completions',
  requestOf: (chat) => chat,
  documentPart: (source) => ({
    type: 'file',
    file: 'fileId' in source ? { file_id: source.fileId } : { file_data: uriOf(source) },
  }),
  completionOf: (response) => response,
  envelope: {},
  streamOf(response) {
    const chunks = eventsOf(response) as {
      choices: { delta: { content?: string | null } }[];
      error?: ErrorBody['error'];
      usage?: PublicUsage | null;
    }[];
    const last = chunks.at(-1);
    return {
      ...ofParts(chunks.map(({ choices }) => choices[0]?.delta.content)),
      error: last?.error,
      usage: last?.usage ?? undefined,
    };
  },
};

interface MessageUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cost?: number;
}

const usageOfMessage = (usage: MessageUsage): PublicUsage => {
  const cached = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    prompt_tokens: usage.input_tokens + cached + written,
    completion_tokens: usage.output_tokens,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    ...(usage.cost === undefined ? {} : { cost: usage.cost }),
  };
};

const MESSAGE_REASONS: Readonly<Record<string, string>> = { end_turn: 'stop', max_tokens: 'length' };

const messagesFormat: PublicFormat = {
  path: '/v1/messages',
  requestOf: ({ stream_options: _, tools, response_format: format, ...chat }) => ({
    ...chat,
    ...(format === undefined
      ? {}
      : {
          output_config: {
            format: { type: 'json_schema', schema: (format as JsonSchemaFormat).json_schema?.schema },
          },
        }),
    ...(tools === undefined
      ? {}
      : {
          tools: (tools as { function: { name: string; parameters: unknown } }[]).map(
            ({ function: tool }) => ({
              name: tool.name,
              input_schema: tool.parameters,
            }),
          ),
        }),
  }),
  documentPart: (source) => ({
    type: 'document',
    source:
      'base64' in source
        ? { type: 'base64', media_type: PDF, data: source.base64 }
        : 'url' in source
          ? { type: 'url', url: source.url }
          : { type: 'file', file_id: source.fileId },
  }),
  completionOf(response) {
    const { id, model, content, stop_reason, usage } = response as {
      id: string;
      model: string;
      content: { text?: string }[];
      stop_reason: string;
      usage: MessageUsage;
    };
    const finish_reason = MESSAGE_REASONS[stop_reason] ?? stop_reason;
    return { id, model, choices: [{ finish_reason, text: textOf(content) }], usage: usageOfMessage(usage) };
  },
  envelope: { type: 'error' },
  streamOf(response) {
    const events = eventsOf(response) as {
      type: string;
      delta?: { text?: string };
      error?: ErrorBody['error'];
      usage?: MessageUsage;
    }[];
    const usage = events.find(({ type }) => type === 'message_delta')?.usage;
    return {
      ...ofParts(events.map(({ delta }) => delta?.text)),
      error: events.at(-1)?.error,
      usage: usage && usageOfMessage(usage),
    };
  },
};

interface ResponseUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens?: number };
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly cost: number;
}

const usageOfResponse = (usage: ResponseUsage): PublicUsage => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  prompt_tokens_details: usage.input_tokens_details,
  completion_tokens_details: usage.output_tokens_details,
  cost: usage.cost,
});

interface ResponseObject {
  readonly id: string;
  readonly model: string;
  readonly status: string;
  readonly output: readonly { readonly content?: { text?: string }[] }[];
  readonly usage: ResponseUsage | null;
  readonly error: ErrorBody['error'] | null;
}

const responsesFormat: PublicFormat = {
  path: '/v1/responses',
  requestOf: ({ stream_options: _, messages, max_tokens, tools, response_format: format, ...chat }) => ({
    ...chat,
    ...(format === undefined
      ? {}
      : {
          text: {
            format: { type: (format as JsonSchemaFormat).type, ...(format as JsonSchemaFormat).json_schema },
          },
        }),
    ...(messages === undefined ? {} : { input: messages }),
    ...(max_tokens === undefined ? {} : { max_output_tokens: max_tokens }),
    ...(tools === undefined
      ? {}
      : {
          tools: (tools as { function: Json }[]).map(({ function: tool }) => ({ type: 'function', ...tool })),
        }),
  }),
  documentPart: (source) => ({
    type: 'input_file',
    ...('base64' in source ? { filename: 'report.pdf', file_data: uriOf(source) } : {}),
    ...('url' in source ? { file_url: source.url } : {}),
    ...('fileId' in source ? { file_id: source.fileId } : {}),
  }),
  completionOf(response) {
    const { id, model, status, output, usage } = response as unknown as ResponseObject;
    const text = textOf(output.flatMap(({ content = [] }) => content));
    assert.ok(usage);
    return {
      ...{ id, model, usage: usageOfResponse(usage) },
      choices: [{ finish_reason: status === 'incomplete' ? 'length' : 'stop', text }],
    };
  },
  envelope: {},
  streamOf(response) {
    const events = eventsOf(response) as { type: string; delta?: string; response?: ResponseObject }[];
    const end = events.at(-1)?.response;
    return {
      ...ofParts(events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : ''))),
      error: end?.error ?? undefined,
      usage: end?.usage ? usageOfResponse(end.usage) : undefined,
    };
  },
};

const embeddingsFormat: PublicFormat = {
  path: '/v1/embeddings',
  requestOf: ({ stream: _, stream_options: __, max_tokens: ___, messages, ...chat }) => ({
    ...chat,
    ...(messages === undefined
      ? {}
      : { input: (messages as { content: string }[]).map(({ content }) => content) }),
  }),
  documentPart: () => assert.fail('embeddings have no documents'),
  completionOf: (response, headers) => ({
    ...response,
    id: String(headers['x-generation-id']),
    choices: [],
    usage: { completion_tokens: 0, ...(response['usage'] as Json) },
  }),
  envelope: {},
  streamOf: () => assert.fail('embeddings are not streamed'),
};

export const publicFormats: Readonly<Record<'chat' | OtherFormat, PublicFormat>> = {
  chat: chatFormat,
  messages: messagesFormat,
  responses: responsesFormat,
  embeddings: embeddingsFormat,
};
