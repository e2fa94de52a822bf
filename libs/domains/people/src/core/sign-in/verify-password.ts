import type { PeoplePorts } from '../ports';
import { MAX_PASSWORD_CHARACTERS } from './member-rules';

/** Whether it is the account's password. One over the maximum is refused after the same time, without hashing all of it. */
export function verifyPassword(
  { passwords }: Pick<PeoplePorts, 'passwords'>,
  password: string,
  hash: string | undefined,
): Promise<boolean> {
  const isTooLong = password.length > MAX_PASSWORD_CHARACTERS;
  return passwords.verify(password.slice(0, MAX_PASSWORD_CHARACTERS), isTooLong ? undefined : hash);
}
