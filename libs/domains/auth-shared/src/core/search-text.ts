const MAX_SEARCH_CHARACTERS = 200;

/** The text to search a list for; undefined if there is none. */
export function readSearchText(text: string | undefined): string | undefined {
  const trimmed = storable(text ?? '').trim();
  return trimmed === '' ? undefined : trimmed.slice(0, MAX_SEARCH_CHARACTERS);
}

/** Replaces NUL and unpaired surrogates, which PostgreSQL does not accept, with U+FFFD. */
export function storable(text: string): string {
  return text.replace(/\0|\p{Cs}/gu, '\uFFFD');
}
