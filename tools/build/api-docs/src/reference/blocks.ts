/**
 * A page as a list of blocks, to be written as Markdown or HTML. Texts may
 * have `code` in backquotes; in `links` a text is the name of a heading.
 */
export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3 | 4; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  /** Headings of this page, as links. */
  | { readonly kind: 'links'; readonly before: string; readonly headings: readonly string[] }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: 'code'; readonly language: 'json' | 'http' | 'text'; readonly text: string };

export const heading = (level: 1 | 2 | 3 | 4, text: string): Block => ({ kind: 'heading', level, text });
export const paragraph = (text: string): Block => ({ kind: 'paragraph', text });
export const links = (before: string, headings: readonly string[]): Block => ({
  kind: 'links',
  before,
  headings,
});
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): Block => ({
  kind: 'table',
  head,
  rows,
});
export const code = (language: 'json' | 'http' | 'text', text: string): Block => ({
  kind: 'code',
  language,
  text,
});

/** The anchor of a heading, as Markdown renderers make it. */
export function anchorOf(headingText: string): string {
  return headingText
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replace(/ /g, '-');
}
