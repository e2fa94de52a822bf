import { z } from 'zod';
import { EDGE_CHANGE_TIMEOUT_MS, endpoint, HASHING_TIMEOUT_MS, json, noContent } from '../endpoint';
import { identity } from './people';
import { credential, sessionState } from './session';

/** A person's own account. */

export const recoveryCodes = z
  .object({
    recovery_codes: z
      .array(z.string())
      .meta({ description: 'Each replaces a code once; returned only here.' }),
  })
  .meta({ id: 'RecoveryCodes' });

export const accountEndpoints = {
  changeProfile: endpoint({
    method: 'PUT',
    path: '/api/account/profile',
    owner: 'auth',
    access: 'signed_in',
    summary: 'Change your name and time zone',
    description:
      'Others see the name next to your email. The dashboard sets the time zone of the browser at the first sign-in; emails have times in it and in UTC.',
    body: z.strictObject({
      name: z.string().max(1_000).optional().meta({ description: 'Empty: no name.' }),
      time_zone: z
        .string()
        .max(100)
        .optional()
        .meta({ description: 'An IANA time zone.', examples: ['Europe/Berlin'] }),
    }),
    response: noContent,
    audit: ['member.change_profile'],
  }),
  changePassword: endpoint({
    method: 'PUT',
    path: '/api/account/password',
    access: 'signed_in',
    summary: 'Change your password',
    description: 'Ends all other sessions. This session continues with a new cookie.',
    body: z.strictObject({ current_password: credential, new_password: credential }),
    response: json(sessionState),
    audit: ['member.change_password'],
    errors: ['sign_in_refused', 'too_many_attempts'],
  }),
  enrolTotp: endpoint({
    method: 'POST',
    path: '/api/account/totp/enrol',
    owner: 'auth',
    timeoutMs: HASHING_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Start two-factor enrollment',
    description:
      'Sign-in does not need a code until enrollment is confirmed. Starting again creates a new secret.',
    body: z.strictObject({ password: credential }),
    response: json(
      z.object({
        secret: z.string().meta({ description: 'Base32, for manual entry.' }),
        otpauth_uri: z.string(),
        qr_svg: z.string().meta({ description: 'The URI as a QR code in an SVG document.' }),
      }),
    ),
    audit: ['member.enrol_totp'],
    errors: ['sign_in_refused', 'conflict', 'too_many_attempts'],
  }),
  confirmTotp: endpoint({
    method: 'POST',
    path: '/api/account/totp/confirm',
    access: 'signed_in',
    summary: 'Confirm enrollment with a first code and enable two-factor authentication',
    description: 'Ends all other sessions. This session continues with a new cookie.',
    body: z.strictObject({ code: credential }),
    response: json(recoveryCodes),
    audit: ['member.confirm_totp'],
    errors: ['second_factor_refused', 'conflict', 'too_many_attempts'],
  }),
  renewRecoveryCodes: endpoint({
    method: 'POST',
    path: '/api/account/totp/recovery-codes',
    owner: 'auth',
    timeoutMs: HASHING_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Replace the recovery codes',
    body: z.strictObject({ password: credential, code: credential }),
    response: json(recoveryCodes),
    audit: ['member.renew_recovery_codes'],
    errors: ['sign_in_refused', 'second_factor_refused', 'conflict', 'too_many_attempts'],
  }),
  removeTotp: endpoint({
    method: 'POST',
    path: '/api/account/totp/remove',
    owner: 'auth',
    timeoutMs: HASHING_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Disable two-factor authentication',
    body: z.strictObject({ password: credential, code: credential }),
    response: noContent,
    audit: ['member.remove_totp'],
    errors: ['sign_in_refused', 'second_factor_refused', 'conflict', 'too_many_attempts'],
  }),
  identities: endpoint({
    method: 'GET',
    path: '/api/account/identities',
    owner: 'auth',
    access: 'signed_in',
    summary: 'List the identity providers linked to your account',
    response: json(z.object({ data: z.array(identity) })),
  }),
  unlinkIdentity: endpoint({
    method: 'POST',
    path: '/api/account/identities/unlink',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Unlink an identity provider from your account',
    description:
      'Ends your other sessions that were started by single sign-on. An account without a password cannot unlink its only way to sign in (409 `conflict`). While the email’s domain is mapped, the next single sign-on with the same verified email links it again.',
    body: z.strictObject({ issuer: z.string().max(1_000), password: credential }),
    response: noContent,
    audit: ['member.unlink_identity'],
    errors: ['sign_in_refused', 'conflict', 'not_found', 'too_many_attempts'],
  }),
} as const;
