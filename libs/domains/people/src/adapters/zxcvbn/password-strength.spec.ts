// cspell:disable
import { checkPassword } from '../../core/sign-in/check-password';
import { createZxcvbnPasswordStrength } from './password-strength';

describe('a new password', () => {
  const ports = { passwordStrength: createZxcvbnPasswordStrength() };
  const messageOf = async (password: string, email = 'ada.lovelace@acme.example') =>
    (await checkPassword(ports, password, email))?.message;

  it.each(['qwerty12345', 'Qwerty12345', '1q2w3e4r5t6y', 'passw0rd123'])(
    'is refused if it was leaked: %s',
    async (password) => expect(await messageOf(password)).toMatch(/leaked|easy to guess/),
  );

  it('is refused with the reason that it was leaked', async () => {
    expect(await messageOf('qwerty12345')).toMatch(/lists of leaked passwords/);
  });

  it.each([
    ...[
      'Summer2026!',
      'Winter2025!!',
      'Liverpool2026!',
      'P@ssw0rd2026',
      'aaaaaaaaaaaaaaab',
      'passwordpassword',
    ],
    ...['ada.lovelace1', 'Lovelace2026!', 'acme-acme-acme', 'ada.lovelace@acme.example', 'zxcvbnmasdfghjkl'],
    ...['a'.repeat(200), `${'qwertyuiop'.repeat(7)}kT9#xLq2vBf`],
  ])('is refused if it is easy to guess: %s', async (password) =>
    expect(await messageOf(password)).toMatch(/easy to guess/),
  );

  it.each(['correct horse battery', 'kT9#xLq2vB', 'chair lamp river', 'tomato and staple', 'ß9ü€k2ñqæøé'])(
    'is accepted if it takes long to guess: %s',
    async (password) => expect(await messageOf(password)).toBeUndefined(),
  );

  it('needs a length between 10 and 200 characters', async () => {
    expect(await messageOf('kT9#xLq2v')).toMatch(/10 to 200 characters/);
    expect(await messageOf('correct horse battery '.repeat(10))).toMatch(/10 to 200 characters/);
  });

  it('is estimated by its first 64 characters at most', async () => {
    const estimated: string[] = [];
    const passwordStrength = {
      estimate: async (password: string) => {
        estimated.push(password);
        return { guesses: 1e12, leaked: false };
      },
    };
    await checkPassword({ passwordStrength }, 'x'.repeat(200), 'ada@acme.example');
    expect(estimated).toEqual(['x'.repeat(64)]);
  });
});
