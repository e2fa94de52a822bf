import { isJsonObject, type JsonObject } from '../../json/json-value';

/*
 * A custom tool takes a text. Chat completions have functions only, so it becomes a function with one text, which is what
 * the model generates the text for.
 */

const INPUT = 'input';

export function customFunction({ name, description, format }: JsonObject): JsonObject {
  const { syntax, definition } = isJsonObject(format) ? format : {};
  const grammar =
    definition === undefined
      ? []
      : [`The input must match this ${String(syntax)} grammar:\n${String(definition)}`];
  const about = [...(description === undefined ? [] : [description as string]), ...grammar].join('\n\n');
  return {
    type: 'function',
    function: {
      name: name as string,
      ...(about === '' ? {} : { description: about }),
      parameters: {
        type: 'object',
        properties: { [INPUT]: { type: 'string' } },
        required: [INPUT],
        additionalProperties: false,
      },
    },
  };
}

export function customArguments(input: string): string {
  return JSON.stringify({ [INPUT]: input });
}

/** The text of a call; arguments in another form are the text themselves. */
export function customInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const input = isJsonObject(value) ? value[INPUT] : undefined;
    return typeof input === 'string' ? input : text;
  } catch {
    return text;
  }
}
