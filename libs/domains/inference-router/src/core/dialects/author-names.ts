import type { JsonObject } from '../completion/json';
import { fits, type TextRule } from './vendor-rules';

const UNFIT = /[\s<|\\/>]+/g;

/** Cleans names of authors that the vendor refuses. Equal names stay equal. */
export function withFitAuthors(messages: readonly JsonObject[], rule: TextRule): readonly JsonObject[] {
  return messages.map((message) => {
    const { name, ...rest } = message;
    if (typeof name !== 'string' || fits(name, rule)) return message;
    const cleaned = name.replace(UNFIT, '_').slice(0, rule.maxLength);
    return cleaned === '' ? rest : { ...rest, name: cleaned };
  });
}
