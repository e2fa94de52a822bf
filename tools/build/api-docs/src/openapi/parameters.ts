import { apiTypes } from '@gateway/base';
import {
  type Endpoint,
  IDEMPOTENCY_KEY_PATTERN,
  LAST_EVENT_ID_PATTERN,
  type JsonObject,
  type JsonValue,
  MAX_COST_HEADER,
  MAX_GENERATION_ID_LENGTH,
  MAX_MODEL_ID_LENGTH,
  MAX_USAGE_DAYS,
  PROJECT_ID_PATTERN,
  RUN_BUDGET_HEADER,
  RUN_ID_HEADER,
  RUN_ID_PATTERN,
  USD_PATTERN,
} from '@gateway/public-api';
import { usageDimensionSchema } from './usage-report-schema';

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

const USD: JsonObject = { type: 'string', pattern: USD_PATTERN.source };
const day = { type: 'string', format: 'date' };

/** Parameters of each endpoint. Other query parameters are ignored. */
export function parametersOf({ name }: Endpoint): JsonObject[] {
  switch (name) {
    case 'chat_completions':
    case 'messages':
    case 'responses':
    case 'embeddings':
      return [
        parameter(
          'header',
          'Idempotency-Key',
          'Makes retries safe for 24 hours: the same key with the same body returns the stored response, and at most one response is charged. The output of a stream that failed is charged too; its key can be used again. 1 to 255 printable ASCII characters. Default: no idempotency.',
          { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN.source },
          { example: 'order-4711' },
        ),
        parameter(
          'header',
          'Last-Event-ID',
          'Adds an `id` to each event of a stream with an `Idempotency-Key`, and continues it after the event with this `id`; 0 is its beginning. Only with both. Default: no ids.',
          { type: 'string', pattern: LAST_EVENT_ID_PATTERN.source },
          { example: '0' },
        ),
        parameter(
          'header',
          MAX_COST_HEADER,
          'The maximum cost of this request, in US dollars above zero. Lowers the output limit to what it covers. The request is refused (`insufficient_credits`) only if it does not even cover the input and one token of output. Default: no maximum.',
          USD,
          { example: '0.05' },
        ),
        parameter(
          'header',
          RUN_ID_HEADER,
          'The run that this request belongs to: requests of the organization that share a budget. 1 to 128 visible ASCII characters. Default: no run.',
          { type: 'string', pattern: RUN_ID_PATTERN.source },
          { example: 'nightly-report-4711' },
        ),
        parameter(
          'header',
          RUN_BUDGET_HEADER,
          'The budget of the run, in US dollars above zero. The first request of the run that is accepted fixes it; later ones may omit it, and another value changes nothing. Default: the budget that was fixed.',
          USD,
          { example: '2.50' },
        ),
      ];
    case 'generation':
      return [
        parameter(
          'query',
          'id',
          'The ID of a completion, also in its `x-generation-id`.',
          { type: 'string', minLength: 1, maxLength: MAX_GENERATION_ID_LENGTH },
          { required: true, example: 'gen-01KAGD1R2M6QW8ZJ4T0V5XN3YB' },
        ),
      ];
    case 'usage':
      return [
        parameter(
          'query',
          'start_date',
          'The first day, UTC. Default: 29 days before `end_date`, which makes 30 days.',
          day,
        ),
        parameter(
          'query',
          'end_date',
          `The last day, UTC, inclusive; at most ${MAX_USAGE_DAYS} days. Default: today.`,
          day,
        ),
        parameter(
          'query',
          'group_by',
          'Dimensions to group by, separated by commas: any of `day`, `model`, `api_key`, `project` and `api_type`, or `user` or `tag:NAME` alone or with `day`. Default: `day,model`.',
          { type: 'array', minItems: 1, items: usageDimensionSchema },
          { style: 'form', explode: false, example: ['day', 'model'] },
        ),
        parameter('query', 'model', 'Only usage of the model with this ID. Default: all models.', {
          type: 'string',
          minLength: 1,
          maxLength: MAX_MODEL_ID_LENGTH,
        }),
        parameter(
          'query',
          'run_id',
          'Only usage of the run with this ID, with its budget in `run`. Default: all usage.',
          { type: 'string', pattern: RUN_ID_PATTERN.source },
        ),
        parameter(
          'query',
          'project_id',
          'Only usage of requests that were admitted in the project with this ID. Default: all usage.',
          { type: 'string', pattern: PROJECT_ID_PATTERN.source },
        ),
        parameter(
          'query',
          'api_type',
          'Only usage of requests to this API; `completions` are chat completions. Default: all usage.',
          { type: 'string', enum: [...apiTypes] },
        ),
      ];
    default:
      return [];
  }
}
