import { Secret, TOTP } from 'otpauth';
import type { Totp } from '../../core/ports';

/** The parameters that every authenticator app supports. */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
const SECRET_BYTES = 20;
/** Also accept the code of the previous and the next period: clocks differ, and people type slowly. */
const WINDOW = 1;
const ISSUER = 'Inference Gateway';

export const otpauthTotp: Totp = {
  generateSecret: () => new Secret({ size: SECRET_BYTES }).base32,

  uri: (secret, account) =>
    new TOTP({ ...PARAMETERS, issuer: ISSUER, label: account, secret: Secret.fromBase32(secret) }).toString(),

  stepOf(secret, code, now) {
    if (!/^\d{6}$/.test(code)) return undefined;
    const totp = new TOTP({ ...PARAMETERS, secret: Secret.fromBase32(secret) });
    const delta = totp.validate({ token: code, timestamp: now, window: WINDOW });
    return delta === null ? undefined : totp.counter({ timestamp: now }) + delta;
  },
};
