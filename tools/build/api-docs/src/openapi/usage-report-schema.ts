import { apiTypes } from '@gateway/base';
import { TAG_DIMENSION_PATTERN, usageDimensions, type JsonObject } from '@gateway/public-api';
import { constant, count, flag, list, oneOfTexts, record, text, textOrNull, usd } from './schema';

/** A dimension of GET /v1/usage. */
export const usageDimensionSchema: JsonObject = {
  anyOf: [
    { type: 'string', enum: [...usageDimensions] },
    { type: 'string', pattern: TAG_DIMENSION_PATTERN.source },
  ],
};

const sums = {
  requests: count('The number of settled generations, failed ones included.'),
  prompt_tokens: count('Input tokens.'),
  completion_tokens: count('Output tokens.'),
  reasoning_tokens: count('Output tokens used for reasoning.'),
  cached_tokens: count("Input tokens read from a model's cache."),
  cache_write_tokens: count("Input tokens written to a model's cache."),
  total_tokens: count('Input and output tokens together.'),
  total_cost: usd('The amount charged, in US dollars.'),
};

export const usageReport = record(
  'Sums of the settled generations of the organization.',
  {
    object: constant('list', 'The type of this object.'),
    start_date: text('The first day, UTC.', { format: 'date' }),
    end_date: text('The last day, UTC.', { format: 'date' }),
    group_by: list('The dimensions of the groups.', usageDimensionSchema),
    model: text('The model of the query, if any.'),
    project_id: text('The project of the query, if any.'),
    api_type: oneOfTexts('The API of the query, if any.', apiTypes),
    run_id: text('The run of the query, if any.'),
    run: {
      ...record('The budget of the run of the query; null for an unknown run.', {
        limit: usd('The budget that the first request fixed, in US dollars.'),
        spent: usd('Charged for settled generations, in US dollars.'),
        held: usd('Reserved by running requests, in US dollars.'),
        remaining: usd('What is left for new requests, in US dollars.'),
      }),
      type: ['object', 'null'],
    },
    currency: constant('USD', 'The currency of all amounts.'),
    totals: record('The totals.', sums),
    data: list(
      'Sums per group, without empty groups.',
      record(
        'One group.',
        {
          date: text('The day, UTC, when grouped by `day`.', { format: 'date' }),
          model: text('The ID of the model, when grouped by `model`.'),
          api_key: text('The ID of the key, when grouped by `api_key`.'),
          project: textOrNull(
            'The ID of the project, when grouped by `project`; null for requests without one.',
          ),
          api_type: oneOfTexts('The API, when grouped by `api_type`.', apiTypes),
          user: textOrNull(
            'The end user, when grouped by `user`; null for requests without one, and for other values.',
          ),
          tag: textOrNull(
            'The value of the tag, when grouped by `tag:NAME`; null for requests without one, and for other values.',
          ),
          other_values: flag(
            'Whether the group sums the end users or values beyond the first 1,000 of a day. Present when grouped by one of them.',
          ),
          ...sums,
        },
        ['date', 'model', 'api_key', 'project', 'api_type', 'user', 'tag', 'other_values'],
      ),
    ),
  },
  ['model', 'project_id', 'api_type', 'run_id', 'run'],
);
