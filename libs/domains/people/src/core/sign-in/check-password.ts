import { invalid, type AdminRefusal } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from './member-rules';

/** Guesses of scrypt at 0.2 s each: six years of one core. Ten random characters take ten times as many. */
const MIN_GUESSES = 1e9;
/** Bounds the work of the estimate. A longer password whose start is guessable is refused too. */
const MAX_ESTIMATED_CHARACTERS = 64;
/** Shorter parts of an email are in too many passwords to count. */
const MIN_WORD_CHARACTERS = 3;

/** Refuses a new password of a wrong length, a leaked one, and one that is easy to guess for this person. */
export async function checkPassword(
  { passwordStrength }: Pick<PeoplePorts, 'passwordStrength'>,
  password: string,
  email: string,
): Promise<AdminRefusal | undefined> {
  if (password.length < MIN_PASSWORD_CHARACTERS || password.length > MAX_PASSWORD_CHARACTERS) {
    return invalid(
      'password',
      `password must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`,
    );
  }
  const estimated = password.slice(0, MAX_ESTIMATED_CHARACTERS);
  const { leaked, guesses } = await passwordStrength.estimate(estimated, wordsOf(email));
  if (leaked) {
    return invalid('password', 'password is in lists of leaked passwords. Use several unrelated words.');
  }
  if (guesses >= MIN_GUESSES) return undefined;
  return invalid(
    'password',
    'password is too easy to guess: names, dates, patterns and common words do not count. Use several unrelated words or a password manager.',
  );
}

function wordsOf(email: string): readonly string[] {
  const [name = ''] = email.split('@');
  const parts = email.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length >= MIN_WORD_CHARACTERS);
  return [email, name, ...parts];
}
