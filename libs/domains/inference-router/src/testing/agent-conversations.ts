import fc from 'fast-check';

// Requests as agents send them, with what the public API accepts and vendors differ in.

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const toolNames: readonly string[] = ['find', 'fs.read', '1st', 'mcp/server:tool', 'n'.repeat(100)];
const ids = fc.oneof(
  fc.constantFrom('call_0', 'call_1', 'a.b', 'a_b', 'call_a|fc_b', 'functions.x:0'),
  fc.string({ minLength: 1, maxLength: 70, unit: 'binary' }),
);
const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('', ' ', 'text', '\n'));
const args = fc.oneof(
  fc.constantFrom('', ' ', '{}', '[1]', '{"a":', 'null', '{"a":"\\ud83d"}'),
  fc.json(),
  fc.dictionary(fc.string(), fc.string()).map((value) => JSON.stringify(value)),
);
const textPart = texts.map((text) => ({ type: 'text', text }));
const part = fc.oneof(textPart, fc.constant({ type: 'image_url', image_url: { url: PNG } }));
const contents = fc.oneof(texts, fc.array(part, { minLength: 1, maxLength: 3 }));
const spokenParts = fc.array(
  fc.oneof(
    textPart,
    texts.map((refusal) => ({ type: 'refusal', refusal })),
  ),
  {
    minLength: 1,
    maxLength: 2,
  },
);
const authors = fc.constantFrom(undefined, 'ada', 'Ada Lovelace', 'a/b', 'x'.repeat(80));
const named = <Message extends object>(message: Message, name: string | undefined) =>
  name === undefined ? message : { ...message, name };

/** A turn of an agent: calls, and their results in any order. */
const loop = fc
  .record({
    calls: fc.array(fc.tuple(ids, fc.constantFrom(...toolNames), args, contents, fc.nat()), {
      minLength: 1,
      maxLength: 3,
    }),
    spoken: fc.option(texts),
    reasoning: fc.option(texts),
  })
  .map(({ calls, spoken, reasoning }) => [
    {
      role: 'assistant',
      content: spoken,
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      tool_calls: calls.map(([id, name, text]) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    },
    ...calls
      .toSorted(([, , , , a], [, , , , b]) => a - b)
      .map(([id, , , content]) => ({ role: 'tool', tool_call_id: id, content })),
  ]);

const described = fc.constantFrom({}, { description: 'What it is', title: 'It' });
const scalar = fc.constantFrom<object>(
  { type: 'string', minLength: 1, pattern: '^[a-z]+$' },
  { type: 'string', format: 'date-time' },
  { type: 'integer', minimum: 0, exclusiveMaximum: 9 },
  { type: ['string', 'null'] },
  { enum: ['a', 'b'] },
  { const: 'a' },
  { type: 'number', multipleOf: 0.5, default: 1 },
  { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
);
const place = { type: 'object', properties: { city: { type: 'string', maxLength: 9 } }, required: ['city'] };
const node = {
  type: 'object',
  properties: { next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] }, city: { type: 'string' } },
};

/** Schemas as pydantic and Zod write them. @param references the definitions that may be used. */
const schemaOf = (references: readonly string[]) => {
  const { object } = fc.letrec<{ any: object; object: object }>((tie) => ({
    any: fc
      .tuple(
        fc.oneof(
          { maxDepth: 2 },
          scalar,
          fc.constantFrom<object>(
            ...references.flatMap((name) => [
              { $ref: `#/$defs/${name}` },
              { allOf: [{ $ref: `#/$defs/${name}` }] },
            ]),
          ),
          fc
            .record({ items: tie('any'), minItems: fc.constantFrom(0, 2) })
            .map((more) => ({ type: 'array', ...more })),
          fc.array(tie('any'), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
          tie('object'),
        ),
        described,
      )
      .map(([schema, more]) => ({ ...schema, ...more })),
    object: fc
      .record({
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('any'), { maxKeys: 3 }),
        more: fc.constantFrom(
          {},
          { additionalProperties: false },
          { additionalProperties: { type: 'string' } },
        ),
        isRequired: fc.boolean(),
      })
      .map(({ properties, more, isRequired }) => ({
        type: 'object',
        properties,
        ...(isRequired ? { required: Object.keys(properties) } : {}),
        ...more,
      })),
  }));
  return object;
};
const formatSchema = schemaOf(['Place']).map((schema) => ({ ...schema, $defs: { Place: place } }));
const toolSchema = fc.oneof(
  fc.constant({ type: 'object', properties: { a: { type: 'string' } } }),
  schemaOf(['Place', 'Node']).map((schema) => ({ ...schema, $defs: { Place: place, Node: node } })),
  fc
    .tuple(fc.constantFrom('anyOf', 'oneOf', 'allOf'), schemaOf(['Place']), schemaOf(['Place']))
    .map(([union, ...branches]) => ({ type: 'object', [union]: branches, $defs: { Place: place } })),
);
const toolOf = fc.record({
  name: fc.constantFrom(...toolNames),
  parameters: toolSchema,
  strict: fc.boolean(),
});

/** The last question makes the emulator's response short. */
const QUESTION = { role: 'user', content: 'go on [[tokens:4]]' };

/** A request without the model. The last message is a question. */
export const agentRequests = fc
  .record({
    system: fc.array(
      texts.map((content) => ({ role: 'system', content })),
      { maxLength: 1 },
    ),
    turns: fc.array(
      fc.oneof(
        loop,
        fc.tuple(contents, authors).map(([content, name]) => [named({ role: 'user', content }, name)]),
        fc.oneof(texts, spokenParts).map((content) => [{ role: 'assistant', content }]),
      ),
      { maxLength: 4 },
    ),
    question: contents,
    /** A compaction drops the tools, and keeps the calls. */
    tools: fc.option(fc.uniqueArray(toolOf, { selector: ({ name }) => name, minLength: 1, maxLength: 3 })),
    choice: fc.constantFrom('auto', 'required'),
    stop: fc.constantFrom(undefined, ['\n\n'], ['never', ' ']),
    effort: fc.constantFrom('low', 'medium'),
    format: fc.option(formatSchema, { freq: 3 }),
  })
  .map(({ system, turns, question, tools, choice, stop, effort, format }) => ({
    messages: [...system, ...turns.flat(), { role: 'user', content: question }, QUESTION],
    ...(tools === null
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function', function: tool })), tool_choice: choice }),
    ...(stop === undefined ? {} : { stop }),
    ...(format === null
      ? {}
      : {
          response_format: { type: 'json_schema', json_schema: { name: 'it', schema: format, strict: true } },
        }),
    reasoning_effort: effort,
    temperature: 0.5,
    top_p: 0.9,
  }));
