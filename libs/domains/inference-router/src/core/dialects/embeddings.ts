import type { JsonObject } from '../completion/json';
import type { EmbeddingInput } from './dialect';
import { refusedValue } from './failures';

/** The inputs of a provider that has its own tokens. */
export function textsOf(input: readonly EmbeddingInput[]): readonly string[] {
  return input.map((each, index) => {
    if (typeof each === 'string') return each;
    throw refusedValue(`input[${index}]`, 'the model accepts texts, not tokens.');
  });
}

/** The extra parameters that a protocol knows, by its own names. Refuses others, whose effect would be lost. */
export function renamedExtra(extra: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(extra).map(([name, value]) => {
      const theirs = Object.hasOwn(names, name) ? names[name] : undefined;
      if (theirs === undefined) throw refusedValue(name, 'the model does not support it.');
      return [theirs, value];
    }),
  );
}

export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
