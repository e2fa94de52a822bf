import { invalid, type AdminRefusal } from './admin-refusal';

export const MAX_NAME_CHARACTERS = 100;
export const MAX_REASON_CHARACTERS = 500;
const MAX_ID_CHARACTERS = 64;

/**
 * Invisible characters, and characters that change how others are displayed:
 * control characters (including NUL, which PostgreSQL cannot store),
 * bidirectional controls, line separators, zero-width spaces and tags.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}\u200B\u2060-\u2064\uFEFF\u{E0000}-\u{E007F}]/u;

/** The text without surrounding white space; a refusal if it is empty, too long or has invisible characters. */
export function readText(field: string, text: string, maxCharacters: number): string | AdminRefusal {
  const trimmed = text.trim();
  if (trimmed === '') return invalid(field, `${field} must not be empty.`);
  if (trimmed.length > maxCharacters) {
    return invalid(field, `${field} must have at most ${maxCharacters} characters.`);
  }
  if (UNPRINTABLE.test(trimmed))
    return invalid(field, `${field} must not contain control or invisible characters.`);
  return trimmed;
}

/** Whether the text has the form of an id. Other text is not looked up in the database. */
export function isIdLike(text: string): boolean {
  return text.length <= MAX_ID_CHARACTERS && /^[A-Za-z0-9_-]+$/.test(text);
}
