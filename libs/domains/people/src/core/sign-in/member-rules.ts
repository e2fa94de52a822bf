import { GatewayError } from '@gateway/errors';
import { invalid, type AdminRefusal } from '@gateway/auth-shared';

const MIN_PASSWORD_CHARACTERS = 10;
/** Bounds the work of hashing. */
export const MAX_PASSWORD_CHARACTERS = 200;
const MAX_EMAIL_CHARACTERS = 254;

/** The email as members are found by it; undefined when it cannot be one. */
export function canonicalEmail(email: string): string | undefined {
  const canonical = email.trim().toLowerCase();
  if (canonical.length > MAX_EMAIL_CHARACTERS) return undefined;
  return /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(canonical) ? canonical : undefined;
}

/** Too easy to guess, whoever it is: the email or a part of it, one character again and again, or a run of keys. */
export function checkPassword(password: string, email: string): AdminRefusal | undefined {
  if (password.length < MIN_PASSWORD_CHARACTERS || password.length > MAX_PASSWORD_CHARACTERS) {
    return invalid(
      'password',
      `password must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`,
    );
  }
  const text = password.toLowerCase();
  const [name = ''] = email.split('@');
  const isOfEmail = text.includes(email) || (name.length >= 4 && text.replaceAll(name, '').length < 4);
  const isOfFew = new Set(text).size < 5;
  if (
    isOfEmail ||
    isOfFew ||
    COMMON.some((common) => text.replaceAll(common, '').length < MIN_BESIDE_COMMON)
  ) {
    return invalid(
      'password',
      'password is too easy to guess. Take several words, or let a program choose it.',
    );
  }
  return undefined;
}

/** So many characters have to be there beside what everybody tries. */
const MIN_BESIDE_COMMON = 5;

/** What most lists of passwords begin with, of ten characters and more by repetition or with something added. */
const COMMON = [
  'password',
  'passwort',
  'qwertyuiop',
  'qwertzuiop',
  '1234567890',
  '0123456789',
  '0987654321',
  'abcdefghij',
  'letmein',
  'iloveyou',
  'administrator',
  'changeme',
];

export function requireEmail(email: string): string {
  const canonical = canonicalEmail(email);
  if (canonical !== undefined) return canonical;
  throw new GatewayError('invalid_request', { message: 'email is not an email address.', param: 'email' });
}

export function requirePassword(password: string): string {
  if (password.length >= MIN_PASSWORD_CHARACTERS && password.length <= MAX_PASSWORD_CHARACTERS) {
    return password;
  }
  throw new GatewayError('invalid_request', {
    message: `password must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`,
    param: 'password',
  });
}
