import type { JsonObject, JsonValue } from '@gateway/public-api';

/** Short forms of JSON Schemas. */

type Options = Readonly<Record<string, JsonValue>>;

export const text = (description: string, options: Options = {}): JsonObject => ({
  type: 'string',
  description,
  ...options,
});

export const textOrNull = (description: string): JsonObject => ({ type: ['string', 'null'], description });

export const count = (description: string): JsonObject => ({ type: 'integer', minimum: 0, description });

export const usd = (description: string): JsonObject => ({ type: 'number', description });

export const flag = (description: string): JsonObject => ({ type: 'boolean', description });

/** In ISO 8601, UTC. */
export const time = (description: string): JsonObject => ({
  type: 'string',
  format: 'date-time',
  description,
});

export const constant = (value: string, description: string): JsonObject => ({
  type: 'string',
  const: value,
  description,
});

export const oneOfTexts = (description: string, values: readonly string[]): JsonObject => ({
  type: 'string',
  enum: [...values],
  description,
});

export const oneOfTextsOrNull = (description: string, values: readonly string[]): JsonObject => ({
  type: ['string', 'null'],
  enum: [...values, null],
  description,
});

export const list = (description: string, items: JsonObject, options: Options = {}): JsonObject => ({
  type: 'array',
  description,
  items,
  ...options,
});

export const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** An object with these members; all but the optional ones are required. */
export function record(
  description: string,
  properties: Readonly<Record<string, JsonObject>>,
  optional: readonly string[] = [],
): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return {
    type: 'object',
    description,
    properties: { ...properties },
    ...(required.length === 0 ? {} : { required }),
  };
}
