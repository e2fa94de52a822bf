import {
  anyObject,
  boolean,
  list,
  number,
  optional,
  record,
  required,
  text,
  textOr,
  variants,
} from './shape';

/** The shapes of fields with a structure. */

/** Function names that some provider accepts. Where another does not, the router renames the tool for it. */
export const functionName = text({ minLength: 1, maxLength: 128, pattern: /^[a-zA-Z0-9_.:/-]+$/ });

export const formatName = text({ minLength: 1, maxLength: 64, pattern: /^[a-zA-Z0-9_-]+$/ });

/** No input tokens are counted for it. */
export const stopSequence = text({ maxLength: 1_024 });

/** Any value is accepted: some clients send nested objects or text. See usageTagsOf. */
export const acceptedMetadata = textOr(anyObject());

/** The context window limits it; the maximum here is the largest exact JSON number. */
export const outputLength = number({ integer: true, min: 1, max: Number.MAX_SAFE_INTEGER });

/** Characters that are safe in terminals, logs and databases. */
export const externalUser = text({
  maxLength: 512,
  read: (value) =>
    /[\u0000-\u001f\u007f]/.test(value) ? { problem: 'it contains control characters.' } : { text: value },
  checkPattern: '^[^\\u0000-\\u001f\\u007f]*$',
});

/** Marks where the provider's prompt cache should end, in the terms of Anthropic and of OpenAI. */
export const cachePointMembers = {
  cache_control: optional(
    record({
      type: required(text({ oneOf: ['ephemeral'] }), 'The kind of cache.'),
      ttl: optional(text({ oneOf: ['5m', '1h'] }), 'How long the cache should keep the prompt.', '`5m`'),
    }),
    'The prompt up to here should be cached. Of all such marks the last four count. A hint: dropped for models without a prompt cache.',
    'none',
  ),
  prompt_cache_breakpoint: optional(
    record({ mode: required(text({ oneOf: ['explicit'] }), 'The kind of breakpoint.') }),
    'The same as `cache_control` without `ttl`, in the terms of OpenAI.',
    'none',
  ),
};

export const toolShape = variants(
  'type',
  {
    function: record({
      type: required(text(), 'The kind of tool.'),
      function: required(
        record({
          name: required(functionName, 'The function name: `a-z`, `A-Z`, `0-9`, `_`, `-`, `.`, `:` and `/`.'),
          description: optional(
            text(),
            'What the function does. The model reads it to decide when to call the function.',
            'none',
          ),
          parameters: optional(
            anyObject(),
            'Its arguments as a JSON Schema, passed to the model unchanged.',
            'no arguments',
          ),
          strict: optional(boolean(), 'Whether the arguments must match the schema exactly.', '`false`'),
        }),
        'The function that the model may call. Its definition counts as input tokens.',
      ),
      ...cachePointMembers,
    }),
  },
  { custom: 'Custom tools are not supported.' },
);

export const toolChoiceShape = textOr(
  variants('type', {
    function: record({
      type: required(text(), 'The kind of tool.'),
      function: required(
        record({ name: required(functionName, 'The function name, as in `tools`.') }),
        'The function that the model must call.',
      ),
    }),
    allowed_tools: record({
      type: required(text(), 'The kind of choice.'),
      allowed_tools: required(
        record({
          mode: required(
            text({ oneOf: ['auto', 'required'] }),
            'Whether the model may call one of the tools, or must.',
          ),
          tools: required(
            list(
              variants('type', {
                function: record({
                  type: required(text(), 'The kind of tool.'),
                  function: required(
                    record({ name: required(functionName, 'The function name, as in `tools`.') }),
                    'A function that the model may call.',
                  ),
                }),
              }),
              { minItems: 1 },
            ),
            'The tools that the model may call, of those in `tools`.',
          ),
        }),
        'The tools that the model may call in this request.',
      ),
    }),
  }),
  text({ oneOf: ['none', 'auto', 'required'] }),
);

const FORMAT_TYPE =
  '`text` is free text, `json_object` any JSON object, `json_schema` JSON that matches a schema.';

export const responseFormatShape = variants('type', {
  text: record({ type: required(text(), FORMAT_TYPE) }),
  json_object: record({ type: required(text(), FORMAT_TYPE) }, undefined, {
    schema: "json_object does not use a schema. Use type 'json_schema'.",
  }),
  json_schema: record({
    type: required(text(), FORMAT_TYPE),
    json_schema: required(
      record({
        name: required(formatName, 'The name of the format: `a-z`, `A-Z`, `0-9`, `_` and `-`.'),
        description: optional(text(), 'The purpose of the format. The model reads it.', 'none'),
        schema: optional(
          anyObject(),
          'The JSON Schema that the response must match, passed to the model unchanged.',
          'any JSON object',
        ),
        strict: optional(boolean(), 'Whether the response must match the schema exactly.', '`false`'),
      }),
      'The format, for the type `json_schema`. Its definition counts as input tokens.',
    ),
  }),
});

export const predictionShape = variants('type', {
  content: record({
    type: required(text(), 'The kind of prediction.'),
    content: required(
      textOr(
        list(
          variants('type', {
            text: record({
              type: required(text(), 'The kind of part.'),
              text: required(text(), 'The text of the part.'),
            }),
          }),
        ),
      ),
      'The text that the response is expected to repeat for the most part.',
    ),
  }),
});
