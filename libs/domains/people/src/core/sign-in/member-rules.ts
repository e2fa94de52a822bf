import { GatewayError } from '@gateway/errors';
import { invalid, type AdminRefusal } from '@gateway/auth-shared';

const MIN_PASSWORD_CHARACTERS = 10;
/** Limits the time of hashing. */
export const MAX_PASSWORD_CHARACTERS = 200;
const MAX_EMAIL_CHARACTERS = 254;

/** The email in the form in which it is stored; undefined if it is invalid. */
export function canonicalEmail(email: string): string | undefined {
  const canonical = email.trim().toLowerCase();
  if (canonical.length > MAX_EMAIL_CHARACTERS) return undefined;
  return /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(canonical) ? canonical : undefined;
}

/** Refuses passwords of a wrong length, and easy ones: the email, few different characters, or a common password. */
export function checkPassword(password: string, email: string): AdminRefusal | undefined {
  if (password.length < MIN_PASSWORD_CHARACTERS || password.length > MAX_PASSWORD_CHARACTERS) {
    return invalid(
      'password',
      `password must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`,
    );
  }
  const text = password.toLowerCase();
  const [name = ''] = email.split('@');
  const isLikeEmail = text.includes(email) || (name.length >= 4 && text.replaceAll(name, '').length < 4);
  const isRepetitive = new Set(text).size < 5;
  if (
    isLikeEmail ||
    isRepetitive ||
    COMMON.some((common) => text.replaceAll(common, '').length < MIN_UNCOMMON_CHARACTERS)
  ) {
    return invalid('password', 'password is too easy to guess. Use several words or a password manager.');
  }
  return undefined;
}

/** Minimum number of characters in addition to a common password. */
const MIN_UNCOMMON_CHARACTERS = 5;

/** The most common passwords, which people repeat or extend to reach ten characters. */
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
