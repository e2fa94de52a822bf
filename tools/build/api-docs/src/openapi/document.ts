import { errorCodes, errorTable, type ErrorCode } from '@gateway/errors';
import {
  chatFields,
  type Endpoint,
  endpointNamed,
  type EndpointName,
  endpoints,
  type JsonObject,
  type JsonValue,
  requestFormats,
  requestJsonSchema,
} from '@gateway/public-api';
import { messageSchemas } from './message-schemas';
import { responseSchemas } from './response-schemas';
import { adviceTexts, errorDetailSchema, errorSchemaName, errorSchemas } from './error-schemas';
import { errorFacts } from './error-facts';
import type { ResponseExamples, ErrorExample } from './examples';
import { headerReferences, headers, OF_ADMISSION, EVERY_RESPONSE } from './headers';
import { parametersOf } from './parameters';
import { typedResponseSchemas } from './typed-response-schemas';
import { reference } from './schema';

/** Examples, from the code that renders responses. */
export interface DocumentExamples {
  readonly responses: ResponseExamples;
  /** At least one per code. */
  readonly errors: readonly ErrorExample[];
}

/** Names of the operations in generated clients. */
const operationIds: Readonly<Record<EndpointName, string>> = {
  chat_completions: 'createChatCompletion',
  messages: 'createMessage',
  message_tokens: 'countMessageTokens',
  responses: 'createResponse',
  embeddings: 'createEmbeddings',
  models: 'listModels',
  credits: 'getCredits',
  generation: 'getGeneration',
  usage: 'getUsage',
};

const summaries: Readonly<Record<EndpointName, string>> = {
  chat_completions: 'Run a chat completion',
  messages: 'Run a message in the format of Anthropic',
  message_tokens: 'Count the input tokens of a message',
  responses: 'Run a response in the format of OpenAI',
  embeddings: 'Compute embeddings of texts',
  models: 'List the models that the key may use',
  credits: 'Read the balance',
  generation: 'Look up one past request',
  usage: 'Read usage by day, model and key',
};

const descriptions: Readonly<Record<EndpointName, string>> = {
  chat_completions:
    'Compatible with OpenAI. The maximum cost of the request is held on the balance before it runs; its actual cost is charged when it finishes. A null in a known field means that the field is absent. Bodies may be compressed with `gzip`, `deflate` or `br`; the limit of 32 MiB applies after decompression.',
  messages:
    'Compatible with the Messages API of Anthropic. The same checks, limits, holds and charges as a chat completion, for every model. `?beta=true` and the header `anthropic-beta` are accepted and have no effect.',
  message_tokens:
    'The estimate that a message would be admitted with. Reserves and costs nothing. `max_tokens` is not needed.',
  responses:
    'Compatible with the Responses API of OpenAI, without anything stored: send the whole conversation. The same checks, limits, holds and charges as a chat completion, for every model.',
  embeddings:
    'Compatible with OpenAI, for embedding models. The same checks, limits, holds and charges as a chat completion; only input is charged. A request has at most 2,048 inputs, 300,000 tokens and 131,072 JSON values, and its response at most 1,536,000 numbers.',
  models: 'Enabled models, sorted by ID. Not paginated.',
  credits: 'The balance of the organization of the key.',
  generation:
    'A request of any key of the organization. It is available about a second after it finished, once it is settled.',
  usage: 'Sums of the settled requests of all keys of the organization.',
};

const tags: Readonly<Record<EndpointName, string>> = {
  chat_completions: 'Inference',
  messages: 'Inference',
  message_tokens: 'Inference',
  responses: 'Inference',
  embeddings: 'Inference',
  models: 'Inference',
  credits: 'Account',
  generation: 'Account',
  usage: 'Account',
};

const INFO = `A prepaid, OpenAI-compatible gateway in front of hosted language models.

Paths match exactly. \`HEAD\` works wherever \`GET\` does; every other path or method is 404 \`route_not_found\`. All errors have the same body; branch on \`error.code\`. A request that breaks several rules always gets the same error.`;

/** The public API as an OpenAPI 3.1 document. */
export function openApiDocument({ responses, errors }: DocumentExamples): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Inference Gateway',
      version: 'v1',
      description: INFO,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: '{origin}',
        description: 'The address of the gateway. The base URL of an SDK is this with `/v1`.',
        variables: { origin: { default: 'http://127.0.0.1:8080' } },
      },
    ],
    tags: [
      { name: 'Inference', description: 'Models and chat completions.' },
      { name: 'Account', description: 'Balance and usage.' },
    ],
    paths: Object.fromEntries(
      endpoints.map((endpoint) => [
        endpoint.path,
        { [endpoint.method.toLowerCase()]: operation(endpoint, responses, errors) },
      ]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'sk-gw-…',
          description:
            'An API key, created in the dashboard. Query parameters, cookies and other headers do not authenticate. The roles below are scopes of the key.',
        },
      },
      headers,
      schemas: {
        ChatCompletionRequest: requestJsonSchema(chatFields),
        MessageRequest: requestJsonSchema(requestFormats.messages.fields),
        ResponseRequest: requestJsonSchema(requestFormats.responses.fields),
        EmbeddingsRequest: requestJsonSchema(requestFormats.embeddings.fields),
        ...responseSchemas,
        ...messageSchemas,
        ...typedResponseSchemas,
        ErrorDetail: errorDetailSchema(),
        ...errorSchemas(errorCodes),
      },
      examples: Object.fromEntries(errors.map((error) => [error.name, errorExample(error)])),
    },
  };
}

function operation(
  endpoint: Endpoint,
  responses: ResponseExamples,
  errors: readonly ErrorExample[],
): JsonObject {
  const { name, scope, api } = endpoint;
  const parameters = parametersOf(endpoint);
  const body = requestOf(name, responses);
  const optIn =
    api === undefined ? '' : ` Off by default: \`GATEWAY_ENDPOINTS\` with \`${api}\` turns it on.`;
  return {
    operationId: operationIds[name],
    tags: [tags[name]],
    summary: summaries[name],
    description: `${descriptions[name]} Needs ${scope === undefined ? 'any valid key' : `the scope \`${scope}\``}.${optIn}`,
    security: [{ apiKey: scope === undefined ? [] : [scope] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': body } } }),
    responses: withHeadersOfFormat(endpoint, {
      '200': success(name, responses),
      ...errorResponses(endpoint, errors),
    }),
  };
}

function withHeadersOfFormat({ format }: Endpoint, responses: Record<string, JsonObject>): JsonObject {
  if (format !== 'messages') return responses;
  const more = headerReferences(['request-id']);
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      { ...response, headers: { ...(response['headers'] as JsonObject), ...more } },
    ]),
  );
}

function requestOf(name: EndpointName, responses: ResponseExamples): JsonObject | undefined {
  switch (name) {
    case 'chat_completions':
      return { schema: reference('ChatCompletionRequest'), example: responses.chatRequest };
    case 'messages':
    case 'message_tokens':
      return { schema: reference('MessageRequest'), example: responses.messageRequest };
    case 'responses':
      return { schema: reference('ResponseRequest'), example: responses.responseRequest };
    case 'embeddings':
      return { schema: reference('EmbeddingsRequest'), example: responses.embeddingsRequest };
    default:
      return undefined;
  }
}

function success(name: EndpointName, responses: ResponseExamples): JsonObject {
  const json = (
    description: string,
    schema: string,
    example: object,
    more: readonly string[] = [],
  ): JsonObject => ({
    description,
    headers: headerReferences([...EVERY_RESPONSE, ...more]),
    content: { 'application/json': { schema: reference(schema), example: example as JsonObject } },
  });
  switch (name) {
    case 'chat_completions':
      return chatSuccess(responses);
    case 'messages':
      return typedSuccess('The message', 'Message', responses.message, responses.messageStream);
    case 'responses':
      return typedSuccess('The response', 'Response', responses.response, responses.responseStream);
    case 'embeddings':
      return json('The embeddings, in the order of the inputs.', 'EmbeddingList', responses.embeddings, [
        ...OF_ADMISSION,
        'idempotent-replayed',
      ]);
    case 'message_tokens':
      return json('The count.', 'MessageTokens', responses.messageTokens);
    case 'models':
      return json('The models.', 'ModelList', responses.models);
    case 'credits':
      return json('The balance.', 'Credits', responses.credits);
    case 'generation':
      return json('The request.', 'Generation', responses.generation, ['x-generation-id']);
    case 'usage':
      return json('The sums.', 'UsageReport', responses.usage);
  }
}

function chatSuccess({ chatCompletion, chatStream }: ResponseExamples): JsonObject {
  return {
    description:
      'The completion, or with `stream` its events: chunks, then `[DONE]`. A stream that fails ends with a chunk whose `finish_reason` is `error`, with the error in `error`. Comments keep an idle connection open.',
    headers: headerReferences([...EVERY_RESPONSE, ...OF_ADMISSION, 'idempotent-replayed']),
    content: {
      'application/json': {
        schema: reference('ChatCompletion'),
        example: chatCompletion as JsonObject,
      },
      'text/event-stream': {
        // OpenAPI describes event streams since 3.2. Tools for 3.1 read this schema as that of one event.
        schema: {
          type: 'object',
          description: 'One event.',
          properties: {
            data: {
              description: 'The text after `data: `: a chunk as JSON, or `[DONE]` at the end.',
              anyOf: [
                {
                  type: 'string',
                  contentMediaType: 'application/json',
                  contentSchema: reference('ChatCompletionChunk'),
                },
                { type: 'string', const: '[DONE]' },
              ],
            },
          },
          required: ['data'],
        },
        'x-example': chatStream,
      },
    },
  };
}

/** A response, or its typed events. */
function typedSuccess(what: string, schema: string, example: object, stream: string): JsonObject {
  return {
    description: `${what}, or with \`stream\` its events. A stream that fails ends with an event that has the error. Comments keep an idle connection open.`,
    headers: headerReferences([...EVERY_RESPONSE, ...OF_ADMISSION, 'idempotent-replayed']),
    content: {
      'application/json': { schema: reference(schema), example: example as JsonObject },
      'text/event-stream': {
        schema: {
          type: 'object',
          description: 'One event.',
          properties: {
            event: { type: 'string', description: 'The type of the event.' },
            data: { type: 'string', contentMediaType: 'application/json', description: 'The event.' },
          },
          required: ['event', 'data'],
        },
        'x-example': stream,
      },
    },
  };
}

function errorResponses(
  { name, errors: codes }: Endpoint,
  errors: readonly ErrorExample[],
): Record<string, JsonObject> {
  const statuses = [...new Set(codes.map((code) => errorTable[code].httpStatus))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status): [string, JsonObject] => {
      const ofStatus = codes.filter((code) => errorTable[code].httpStatus === status);
      const examples = errors.filter(({ code }) => ofStatus.includes(code));
      const retry = [...new Set(examples.flatMap((example) => Object.keys(example.headers)))];
      const limited = isGeneration(name) ? headersOfAdmission(status) : [];
      return [
        String(status),
        {
          description: ofStatus.map((code) => `\`${code}\``).join(', '),
          headers: headerReferences([...EVERY_RESPONSE, ...limited, ...retry]),
          content: { 'application/json': errorContent(name, ofStatus, examples) },
        },
      ];
    }),
  );
}

function errorContent(
  name: EndpointName,
  codes: readonly ErrorCode[],
  examples: readonly ErrorExample[],
): JsonObject {
  if (endpointNamed(name)?.format === 'messages') return { schema: reference('MessagesError') };
  return { schema: anyOfCodes(codes), examples: exampleReferences(name, examples) };
}

function isGeneration(name: EndpointName): boolean {
  return name !== 'message_tokens' && endpointNamed(name)?.format !== undefined;
}

/** Statuses of a generation that can occur once rate limits were checked. */
function headersOfAdmission(status: number): readonly string[] {
  return [400, 402, 404, 408, 429, 500, 502, 503].includes(status) ? OF_ADMISSION : [];
}

/** The alternatives differ in their code. */
function anyOfCodes(codes: readonly ErrorCode[]): JsonObject {
  const schemas = codes.map((code) => reference(errorSchemaName(code)));
  return schemas.length === 1 && schemas[0] ? schemas[0] : { anyOf: schemas };
}

/** Prefers examples of this endpoint to examples of others with the same code. */
function exampleReferences(name: EndpointName, examples: readonly ErrorExample[]): JsonObject {
  const path = endpoints.find((endpoint) => endpoint.name === name)?.path ?? '';
  const isHere = ({ request }: ErrorExample) => request?.path.split('?')[0] === path;
  const shown = examples.filter(
    (example) => isHere(example) || !examples.some((other) => other.code === example.code && isHere(other)),
  );
  return Object.fromEntries(
    shown.map(({ name: of }): [string, JsonValue] => [of, { $ref: `#/components/examples/${of}` }]),
  );
}

/** An error with the facts of its code as extensions; plain OpenAPI tools show the response body. */
function errorExample({ code, summary, request, headers: sent, body }: ErrorExample): JsonObject {
  const { httpStatus, advice } = errorTable[code];
  return {
    summary,
    description: errorFacts[code].when,
    value: body as unknown as JsonObject,
    'x-code': code,
    'x-status': httpStatus,
    'x-advice': adviceTexts[advice],
    'x-headers': { ...sent },
    ...(request === undefined ? {} : { 'x-request': request as unknown as JsonObject }),
  };
}
