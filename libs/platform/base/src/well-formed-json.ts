/** An escape of half a character, after an even number of backslashes. JSON.stringify writes whole characters unescaped. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * Replaces halves of characters in names and texts by U+FFFD. Many providers refuse them.
 *
 * @param json by JSON.stringify.
 */
export function wellFormedJson(json: string): string {
  return json.includes('\\ud') ? json.replace(LONE_SURROGATE, '$1\ufffd') : json;
}
