/**
 * Invisible characters that change how text reads: controls, zero-width characters, bidirectional
 * controls, fillers and tags.
 */
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Characters that a joiner may follow: emoji sequences and scripts that use joiners. */
const JOINABLE =
  /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Mongolian}]$/u;
const JOINERS = new Set(['\u200c', '\u200d']);

/** Bidirectional embeddings, overrides and isolates. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu;

/** Shows each invisible character as its code point, so that similar-looking names can be distinguished. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character, place: number) =>
    JOINERS.has(character) && JOINABLE.test(characterBefore(text, place))
      ? character
      : codePointOf(character),
  );
}

/** A surrogate pair is one character. */
const characterBefore = (text: string, place: number) =>
  [...text.slice(Math.max(0, place - 2), place)].at(-1) ?? '';

/** For longer text, such as model output: shows only bidirectional controls. */
export const visibleText = (text: string) => text.replace(BIDI_CONTROLS, codePointOf);

const codePointOf = (character: string) =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
