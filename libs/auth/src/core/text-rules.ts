import { invalid, type AdminRefusal } from './admin-refusal';

export const MAX_NAME_CHARACTERS = 100;
export const MAX_REASON_CHARACTERS = 500;
const MAX_ID_CHARACTERS = 64;

/** Control characters, among them NUL, which PostgreSQL cannot store. */
const UNPRINTABLE = /\p{Cc}|\p{Cs}/u;

/** The text without surrounding white space, if a person could read it and it is not too long. */
export function readText(field: string, text: string, maxCharacters: number): string | AdminRefusal {
  const trimmed = text.trim();
  if (trimmed === '') return invalid(field, `${field} must not be empty.`);
  if (trimmed.length > maxCharacters) {
    return invalid(field, `${field} must have at most ${maxCharacters} characters.`);
  }
  if (UNPRINTABLE.test(trimmed)) return invalid(field, `${field} must not contain control characters.`);
  return trimmed;
}

/** Whether the text could be one of our ids. What could not need not be looked for. */
export function isIdLike(text: string): boolean {
  return text.length <= MAX_ID_CHARACTERS && /^[A-Za-z0-9_-]+$/.test(text);
}
