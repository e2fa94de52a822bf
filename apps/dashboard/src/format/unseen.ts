/**
 * Characters that nobody sees but that change how others read: controls, zero
 * widths, directions of writing, fillers and tags.
 */
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** What a joiner may stand after: emoji that are made of several, and letters of scripts that are written with joiners. */
const JOINABLE =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Mongolian}]$/u;
const JOINERS = new Set(['\u200c', '\u200d']);

/** Those of a longer text that turn the direction of what comes after them. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/gu;

/** For names and notes: each unseen character is shown by its number, so that none passes for another. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character, place: number) =>
    JOINERS.has(character) && JOINABLE.test(text.slice(Math.max(0, place - 2), place))
      ? character
      : byNumber(character),
  );
}

/** For what is read as a whole, such as an answer: lines and marks stay, what turns the text round is shown. */
export const visibleText = (text: string) => text.replace(TURNING, byNumber);

const byNumber = (character: string) =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
