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

/** The shapes of fields that are more than a number or a text. */

/** Function names: what every provider accepts. */
const functionName = text({ minLength: 1, maxLength: 64, pattern: /^[a-zA-Z0-9_-]+$/ });

/** Metadata is not kept, so it is not judged either: some clients send nested objects or a text. */
export const ignoredMetadata = textOr(anyObject());

/** Whether it fits is the context window's to say; only what no JSON reader keeps exactly is no length at all. */
export const outputLength = number({ integer: true, min: 1, max: Number.MAX_SAFE_INTEGER });

/** Letters that no terminal, log or database takes amiss. */
export const externalUser = text({
  maxLength: 512,
  read: (value) =>
    /[\u0000-\u001f\u007f]/.test(value) ? { problem: 'it has control characters.' } : { text: value },
  checkPattern: '^[^\\u0000-\\u001f\\u007f]*$',
});

export const toolShape = variants(
  'type',
  {
    function: record({
      type: required(text(), 'The kind of tool.'),
      function: required(
        record({
          name: required(functionName, 'What the model calls it by: letters, digits, `_` and `-`.'),
          description: optional(text(), 'What it does, for the model to know when to call it.', 'none'),
          parameters: optional(
            anyObject(),
            'Its arguments as a JSON Schema, passed to the model as it is.',
            'it takes none',
          ),
          strict: optional(boolean(), 'Whether the arguments must match the schema exactly.', '`false`'),
        }),
        'The function that the model may call. Its definition counts as input tokens.',
      ),
    }),
  },
  { custom: 'Custom tools are not supported.' },
);

export const toolChoiceShape = textOr(
  variants('type', {
    function: record({
      type: required(text(), 'The kind of tool.'),
      function: required(
        record({ name: required(functionName, 'Its name, as in `tools`.') }),
        'The one function that the model has to call.',
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
    schema: "with json_object no schema is kept. Use type 'json_schema'.",
  }),
  json_schema: record({
    type: required(text(), FORMAT_TYPE),
    json_schema: required(
      record({
        name: required(functionName, 'A name for the format: letters, digits, `_` and `-`.'),
        description: optional(text(), 'What the format is for, for the model to read.', 'none'),
        schema: optional(
          anyObject(),
          'The JSON Schema that the answer has to match, passed to the model as it is.',
          'any JSON object',
        ),
        strict: optional(boolean(), 'Whether the answer must match the schema exactly.', '`false`'),
      }),
      'Of `json_schema`: the format. Its definition counts as input tokens.',
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
      'The text that most of the answer is expected to repeat.',
    ),
  }),
});
