import { z } from 'zod';
import { created, EDGE_CHANGE_TIMEOUT_MS, EMAIL_TIMEOUT_MS, endpoint, json, noContent } from './endpoint';
import { id, time } from './fields';
import { accountEndpoints, recoveryCodes } from './families/account';
import { managementTokenAccess } from './families/management-tokens';
import { organizationRole, person } from './families/people';
import { credential, sessionEndpoints, sessionState } from './families/session';
import { signInErrorCodes } from './sign-in-errors';

/** A new session. dashboard-api sends the token in a cookie only. */
const openedSession = z.object({ session_token: z.string(), expires_at: time });
const openedWithState = openedSession.extend({ state: sessionState });

const signOnRefused = z.object({
  kind: z.literal('refused'),
  error: z.enum(signInErrorCodes),
  /** For the log. */
  detail: z.string(),
});

/** The access of the requested endpoint, and the organization of its path. */
const neededAccess = { access: z.string(), organization_id: z.string().optional() };

const { signIn, acceptInvitation, startOidc, finishOidc } = sessionEndpoints;
const { changePassword, confirmTotp } = accountEndpoints;

/**
 * The parts of sessions: dashboard-api has the cookies, and auth everything else. Those that `anyone` calls have their
 * credentials in the body.
 */
export const sessionParts = {
  authorize: endpoint({
    method: 'POST',
    path: '/internal/session/authorize',
    owner: 'auth',
    access: 'anyone',
    summary: 'The person of a session, if they have the access',
    body: z.strictObject({
      ...neededAccess,
      session_token: credential,
      /** No person caused the request, so it does not extend the session. */
      background: z.boolean(),
      /** Whether the session must be confirmed recently. */
      confirmed: z.boolean(),
    }),
    response: json(
      z.object({
        session_id: id,
        member: person,
        /** In the organization of the request, if any. */
        organization_role: organizationRole.nullable(),
      }),
    ),
    errors: [
      'not_signed_in',
      'forbidden',
      'second_factor_setup_required',
      'confirmation_required',
      'not_found',
    ],
  }),
  authorizeManagementToken: endpoint({
    method: 'POST',
    path: '/internal/management-token/authorize',
    owner: 'auth',
    access: 'anyone',
    summary: 'The management token with a secret, if it has the access',
    body: z.strictObject({ ...neededAccess, secret: credential, changes: z.boolean() }),
    response: json(
      z.object({
        id,
        label: z.string(),
        access: managementTokenAccess,
        /** Null for a token of the platform. */
        scope: z.object({ organization_id: id, role: organizationRole }).nullable(),
      }),
    ),
    errors: ['management_token_not_valid', 'forbidden', 'not_found', 'too_many_attempts'],
  }),
  signIn: endpoint({
    method: 'POST',
    path: '/internal/session',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'anyone',
    summary: 'Opens a session with email and password, and ends the one of an earlier cookie',
    body: signIn.body.extend({ earlier_session_token: credential.optional() }),
    response: created(openedWithState),
    audit: [...signIn.audit, 'session.end'],
    errors: signIn.errors,
  }),
  startOidc: endpoint({
    method: 'POST',
    path: '/internal/oidc/start',
    owner: 'auth',
    timeoutMs: EMAIL_TIMEOUT_MS,
    access: 'anyone',
    summary: 'The address at the identity provider, and the secret for the browser',
    body: startOidc.query.extend({ session_token: credential.optional() }),
    response: json(
      z.discriminatedUnion('kind', [
        z.object({
          kind: z.literal('started'),
          authorization_url: z.string(),
          state: z.string(),
          browser_token: z.string(),
          expires_at: time,
        }),
        signOnRefused,
      ]),
    ),
    errors: ['not_found'],
  }),
  finishOidc: endpoint({
    method: 'POST',
    path: '/internal/oidc/finish',
    owner: 'auth',
    timeoutMs: EMAIL_TIMEOUT_MS,
    access: 'anyone',
    summary: 'Opens a session with the response of the identity provider',
    body: z.strictObject({
      /** The raw query string, which auth parses. */
      callback_query: z.string(),
      browser_token: z.string(),
    }),
    response: json(
      z.discriminatedUnion('kind', [
        openedSession.extend({ kind: z.literal('signed_on'), return_to: z.string() }),
        signOnRefused,
      ]),
    ),
    audit: [...finishOidc.audit, 'session.end'],
    errors: ['not_found'],
  }),
  acceptInvitation: endpoint({
    method: 'POST',
    path: '/internal/invitation',
    owner: 'auth',
    timeoutMs: EMAIL_TIMEOUT_MS,
    access: 'anyone',
    summary: 'Accepts an invitation, in the session of the token or with a new account',
    body: acceptInvitation.body.extend({ session_token: credential.optional() }),
    response: created(openedWithState),
    audit: [...acceptInvitation.audit, 'session.create'],
    errors: acceptInvitation.errors,
  }),
  changePassword: endpoint({
    method: 'PUT',
    path: '/internal/account/password',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Changes the own password, which replaces the session',
    body: changePassword.body,
    response: json(openedWithState),
    audit: changePassword.audit,
    errors: changePassword.errors,
  }),
  confirmTotp: endpoint({
    method: 'POST',
    path: '/internal/account/totp/confirm',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Enables the second factor, which replaces the session',
    body: confirmTotp.body,
    response: json(recoveryCodes.extend(openedSession.shape)),
    audit: confirmTotp.audit,
    errors: confirmTotp.errors,
  }),
  countEmails: endpoint({
    method: 'POST',
    path: '/internal/organizations/{organization_id}/count-emails',
    owner: 'auth',
    access: 'credit:alerts',
    summary: 'Counts the emails of an alert before another service sends them',
    body: z.strictObject({ recipients: z.array(z.string()) }),
    response: noContent,
    errors: ['too_many_attempts'],
  }),
} as const;
