import { errorCodes, errorTable, type ErrorCode } from '@gateway/errors';
import {
  chatRequestJsonSchema,
  type Endpoint,
  type EndpointName,
  endpoints,
  type JsonObject,
  type JsonValue,
} from '@gateway/public-api';
import { answerSchemas } from './answer-schemas';
import { adviceTexts, errorDetailSchema, errorSchemaName, errorSchemas } from './error-schemas';
import { errorFacts } from './error-facts';
import type { AnswerExamples, ErrorExample } from './examples';
import { headerReferences, headers, OF_ADMISSION, OF_EVERY_ANSWER } from './headers';
import { parametersOf } from './parameters';
import { reference } from './schema';

/** What the document cannot make up by itself. */
export interface DocumentExamples {
  readonly answers: AnswerExamples;
  /** At least one per code. */
  readonly errors: readonly ErrorExample[];
}

/** The code of an endpoint's operation, for generated clients. */
const operationIds: Readonly<Record<EndpointName, string>> = {
  chat_completions: 'createChatCompletion',
  models: 'listModels',
  credits: 'getCredits',
  generation: 'getGeneration',
  usage: 'getUsage',
};

const summaries: Readonly<Record<EndpointName, string>> = {
  chat_completions: 'Run a chat completion',
  models: 'List the models that the key may use',
  credits: 'Read the balance',
  generation: 'Look up one past request',
  usage: 'Read usage by day, model and key',
};

const descriptions: Readonly<Record<EndpointName, string>> = {
  chat_completions:
    'Compatible with OpenAI. The most that the request can cost is held on the balance before it runs, and what it did cost is charged at its end. A null in a known field means that it is absent. Bodies may be compressed with `gzip`, `deflate` or `br`; the limit of 32 MiB counts what comes out.',
  models: 'Enabled models, by id. No pages.',
  credits: 'Of the organization that the key belongs to.',
  generation:
    'Of any key of the organization. A request can be found about a second after its end, once it is settled.',
  usage: 'Sums over the settled requests of all keys of the organization.',
};

const tags: Readonly<Record<EndpointName, string>> = {
  chat_completions: 'Inference',
  models: 'Inference',
  credits: 'Account',
  generation: 'Account',
  usage: 'Account',
};

const INFO = `A prepaid, OpenAI-compatible gateway in front of hosted language models.

Paths are matched exactly; \`HEAD\` works wherever \`GET\` does, and every other path or method is 404 \`route_not_found\`. Every error has the same envelope; branch on \`error.code\`. One error is answered, always the same one for the same faulty request.`;

/** The public API as an OpenAPI 3.1 document. */
export function openApiDocument({ answers, errors }: DocumentExamples): JsonObject {
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
        description: 'Where the gateway runs; the base URL of SDKs is this with `/v1`.',
        variables: { origin: { default: 'http://127.0.0.1:8080' } },
      },
    ],
    tags: [
      { name: 'Inference', description: 'Models, and running them.' },
      { name: 'Account', description: 'What was used and what is left.' },
    ],
    paths: Object.fromEntries(
      endpoints.map((endpoint) => [
        endpoint.path,
        { [endpoint.method.toLowerCase()]: operation(endpoint, answers, errors) },
      ]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'sk-gw-…',
          description:
            'An API key, made in the dashboard. Nothing else authenticates: no query parameter, no cookie, no other header. The roles below are scopes of the key.',
        },
      },
      headers,
      schemas: {
        ChatCompletionRequest: chatRequestJsonSchema(),
        ...answerSchemas,
        ErrorDetail: errorDetailSchema(),
        ...errorSchemas(errorCodes),
      },
      examples: Object.fromEntries(errors.map((error) => [error.name, errorExample(error)])),
    },
  };
}

function operation(endpoint: Endpoint, answers: AnswerExamples, errors: readonly ErrorExample[]): JsonObject {
  const { name, scope } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId: operationIds[name],
    tags: [tags[name]],
    summary: summaries[name],
    description: `${descriptions[name]} Needs ${scope === undefined ? 'any valid key' : `the scope \`${scope}\``}.`,
    security: [{ apiKey: scope === undefined ? [] : [scope] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(name === 'chat_completions'
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: reference('ChatCompletionRequest'),
                example: answers.chatRequest,
              },
            },
          },
        }
      : {}),
    responses: { '200': success(name, answers), ...errorResponses(endpoint, errors) },
  };
}

function success(name: EndpointName, answers: AnswerExamples): JsonObject {
  const json = (
    description: string,
    schema: string,
    example: object,
    more: readonly string[] = [],
  ): JsonObject => ({
    description,
    headers: headerReferences([...OF_EVERY_ANSWER, ...more]),
    content: { 'application/json': { schema: reference(schema), example: example as JsonObject } },
  });
  switch (name) {
    case 'chat_completions':
      return chatSuccess(answers);
    case 'models':
      return json('The models.', 'ModelList', answers.models);
    case 'credits':
      return json('The balance.', 'Credits', answers.credits);
    case 'generation':
      return json('The request.', 'Generation', answers.generation, ['x-generation-id']);
    case 'usage':
      return json('The sums.', 'UsageReport', answers.usage);
  }
}

function chatSuccess({ chatCompletion, chatStream }: AnswerExamples): JsonObject {
  return {
    description:
      'The completion, or with `stream` its events: chunks, then `[DONE]`. A stream that breaks off ends with a chunk whose `finish_reason` is `error`, with the error in `error`. Comments keep a silent connection open.',
    headers: headerReferences([...OF_EVERY_ANSWER, ...OF_ADMISSION, 'idempotent-replayed']),
    content: {
      'application/json': {
        schema: reference('ChatCompletion'),
        example: chatCompletion as JsonObject,
      },
      'text/event-stream': {
        // OpenAPI has had a place for this since 3.2; before, readers take the schema for that of one event.
        schema: {
          type: 'object',
          description: 'One event.',
          properties: {
            data: {
              description: 'What follows `data: `: a chunk as JSON, or at the end `[DONE]`.',
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

function errorResponses({ name, errors: codes }: Endpoint, errors: readonly ErrorExample[]): JsonObject {
  const statuses = [...new Set(codes.map((code) => errorTable[code].httpStatus))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status): [string, JsonValue] => {
      const ofStatus = codes.filter((code) => errorTable[code].httpStatus === status);
      const examples = errors.filter(({ code }) => ofStatus.includes(code));
      const retry = [...new Set(examples.flatMap((example) => Object.keys(example.headers)))];
      const limited = name === 'chat_completions' ? headersOfAdmission(status) : [];
      return [
        String(status),
        {
          description: ofStatus.map((code) => `\`${code}\``).join(', '),
          headers: headerReferences([...OF_EVERY_ANSWER, ...limited, ...retry]),
          content: {
            'application/json': { schema: anyOfCodes(ofStatus), examples: exampleReferences(name, examples) },
          },
        },
      ];
    }),
  );
}

/** Statuses that a chat completion can still get when it has come to the limits, or past them. */
function headersOfAdmission(status: number): readonly string[] {
  return [400, 402, 404, 408, 429, 500, 502, 503].includes(status) ? OF_ADMISSION : [];
}

/** The codes tell the alternatives apart. */
function anyOfCodes(codes: readonly ErrorCode[]): JsonObject {
  const schemas = codes.map((code) => reference(errorSchemaName(code)));
  return schemas.length === 1 && schemas[0] ? schemas[0] : { anyOf: schemas };
}

/** An example of another endpoint's request is of no use where the code has one of this. */
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

/** An error with all that is known of its code; readers that know only OpenAPI see the answer's body. */
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
