/** The names in a text that separates them by commas or white space. */
export function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}
