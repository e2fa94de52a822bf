import { storableText } from '@gateway/base';

const MAX_SEARCH_CHARACTERS = 200;

/** The text to search a list for; undefined if there is none. */
export function readSearchText(text: string | undefined): string | undefined {
  const trimmed = storableText(text ?? '').trim();
  return trimmed === '' ? undefined : trimmed.slice(0, MAX_SEARCH_CHARACTERS);
}
