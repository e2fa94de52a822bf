import { GatewayError } from '@gateway/errors';

export const MIN_PASSWORD_CHARACTERS = 10;
/** Limits the time of hashing. */
export const MAX_PASSWORD_CHARACTERS = 200;
const MAX_EMAIL_CHARACTERS = 254;

/** The email in the form in which it is stored; undefined if it is invalid. */
export function canonicalEmail(email: string): string | undefined {
  const canonical = email.trim().toLowerCase();
  if (canonical.length > MAX_EMAIL_CHARACTERS) return undefined;
  return /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(canonical) ? canonical : undefined;
}

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
