import {
  type Endpoint,
  IDEMPOTENCY_KEY_PATTERN,
  type JsonObject,
  type JsonValue,
  MAX_GENERATION_ID_LENGTH,
  MAX_MODEL_ID_LENGTH,
  MAX_USAGE_DAYS,
  usageDimensions,
} from '@gateway/public-api';

type Options = Readonly<Record<string, JsonValue>>;

function parameter(
  place: 'query' | 'header',
  name: string,
  description: string,
  schema: JsonObject,
  options: Options = {},
): JsonObject {
  return { name, in: place, description, ...options, schema };
}

const day = { type: 'string', format: 'date' };

/** What each endpoint takes beside its body. Other query parameters are ignored. */
export function parametersOf({ name }: Endpoint): JsonObject[] {
  switch (name) {
    case 'chat_completions':
      return [
        parameter(
          'header',
          'Idempotency-Key',
          'Makes the request safe to repeat for 24 hours: the same key with the same body gets the stored answer, and at most one answer is charged. What a stream that broke off had produced is charged as well; its key is free again. 1 to 255 printable ASCII characters. Default: every request is one of its own.',
          { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN.source },
          { example: 'order-4711' },
        ),
      ];
    case 'generation':
      return [
        parameter(
          'query',
          'id',
          'The id of a completion, which is also in its `x-generation-id`.',
          { type: 'string', minLength: 1, maxLength: MAX_GENERATION_ID_LENGTH },
          { required: true, example: 'gen-01KAGD1R2M6QW8ZJ4T0V5XN3YB' },
        ),
      ];
    case 'usage':
      return [
        parameter(
          'query',
          'start_date',
          'The first day, UTC. Default: 29 days before `end_date`, so 30 days in all.',
          day,
        ),
        parameter(
          'query',
          'end_date',
          `The last day, UTC, which is counted too; at most ${MAX_USAGE_DAYS} days in all. Default: today.`,
          day,
        ),
        parameter(
          'query',
          'group_by',
          'What to sum by, separated by commas. Default: `day,model`.',
          { type: 'array', minItems: 1, items: { type: 'string', enum: [...usageDimensions] } },
          { style: 'form', explode: false, example: ['day', 'model'] },
        ),
        parameter('query', 'model', 'The id of the only model to sum up. Default: all models.', {
          type: 'string',
          minLength: 1,
          maxLength: MAX_MODEL_ID_LENGTH,
        }),
      ];
    default:
      return [];
  }
}
