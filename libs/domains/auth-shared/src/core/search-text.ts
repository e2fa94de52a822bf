import { storableText } from '@gateway/base';

/** The text to search a list for; undefined if there is none. */
export function readSearchText(text: string | undefined): string | undefined {
  const trimmed = storableText(text ?? '').trim();
  return trimmed === '' ? undefined : trimmed;
}
