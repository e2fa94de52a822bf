const NOT_STORABLE = /\0|\p{Cs}/gu;

/** Replaces NUL and unpaired surrogates, which PostgreSQL stores neither as text nor in JSON, with U+FFFD. */
export function storableText<Text extends string | undefined>(text: Text): Text | string {
  return text?.replace(NOT_STORABLE, '\uFFFD') as Text | string;
}
