import { z } from 'zod';
import { endpoint, json, nothing } from '../endpoint';
import { identity } from './people';
import { credential, sessionState } from './session';

/** What a person changes of their own account. */

const recoveryCodes = z
  .object({
    recovery_codes: z
      .array(z.string())
      .meta({ description: 'each signs in once in place of a code; shown here and never again' }),
  })
  .meta({ id: 'RecoveryCodes' });

export const accountEndpoints = {
  changePassword: endpoint({
    method: 'PUT',
    path: '/api/account/password',
    who: 'signed_in',
    summary: 'Change the own password',
    description: 'Ends all other sessions; this one goes on under a new cookie.',
    body: z.strictObject({ current_password: credential, new_password: credential }),
    answer: json(sessionState),
    audit: ['member.change_password'],
    errors: ['sign_in_refused', 'too_many_attempts'],
  }),
  enrolTotp: endpoint({
    method: 'POST',
    path: '/api/account/totp/enrol',
    who: 'signed_in',
    summary: 'Begin with a second factor',
    description:
      'Nothing is asked for at sign-in until it was confirmed. Beginning again makes a new secret.',
    body: z.strictObject({ password: credential }),
    answer: json(
      z.object({
        secret: z.string().meta({ description: 'base32, to be typed where no camera is' }),
        otpauth_uri: z.string(),
        qr_svg: z.string().meta({ description: 'the URI as a QR code: an SVG document' }),
      }),
    ),
    audit: ['member.enrol_totp'],
    errors: ['sign_in_refused', 'conflict', 'too_many_attempts'],
  }),
  confirmTotp: endpoint({
    method: 'POST',
    path: '/api/account/totp/confirm',
    who: 'signed_in',
    summary: 'Turn the second factor on, by a first code of it',
    description: 'Ends all other sessions; this one goes on under a new cookie.',
    body: z.strictObject({ code: credential }),
    answer: json(recoveryCodes),
    audit: ['member.confirm_totp'],
    errors: ['second_factor_refused', 'conflict', 'too_many_attempts'],
  }),
  renewRecoveryCodes: endpoint({
    method: 'POST',
    path: '/api/account/totp/recovery-codes',
    who: 'signed_in',
    summary: 'New recovery codes in place of the old ones',
    body: z.strictObject({ password: credential, code: credential }),
    answer: json(recoveryCodes),
    audit: ['member.renew_recovery_codes'],
    errors: ['sign_in_refused', 'second_factor_refused', 'conflict', 'too_many_attempts'],
  }),
  removeTotp: endpoint({
    method: 'POST',
    path: '/api/account/totp/remove',
    who: 'signed_in',
    summary: 'Turn the second factor off',
    body: z.strictObject({ password: credential, code: credential }),
    answer: nothing,
    audit: ['member.remove_totp'],
    errors: ['sign_in_refused', 'second_factor_refused', 'conflict', 'too_many_attempts'],
  }),
  identities: endpoint({
    method: 'GET',
    path: '/api/account/identities',
    who: 'signed_in',
    summary: 'The identity providers by which the own account signs in',
    answer: json(z.object({ data: z.array(identity) })),
  }),
  unlinkIdentity: endpoint({
    method: 'POST',
    path: '/api/account/identities/unlink',
    who: 'signed_in',
    summary: 'Sign in by an identity provider no more',
    description:
      'Ends the other sessions that were opened by single sign-on. An account without a password has no other way to sign in, and is refused (409 `conflict`). While its domain is mapped, the next single sign-on with the same verified email links it anew.',
    body: z.strictObject({ issuer: z.string().max(1_000), password: credential }),
    answer: nothing,
    audit: ['member.unlink_identity'],
    errors: ['sign_in_refused', 'conflict', 'not_found', 'too_many_attempts'],
  }),
} as const;
