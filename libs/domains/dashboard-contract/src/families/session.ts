import { z } from 'zod';
import {
  created,
  EDGE_CHANGE_TIMEOUT_MS,
  endpoint,
  HASHING_TIMEOUT_MS,
  json,
  noContent,
  redirect,
} from '../endpoint';
import { emptyBody, id, page, pageQuery, time } from '../fields';
import { signInErrors } from '../sign-in-errors';
import { organizationRole, person } from './people';

/** Sign-in, the current session, and a person's other sessions. */

const membership = z
  .object({
    organization: z.object({ id, name: z.string(), suspended: z.boolean() }),
    role: organizationRole,
    permissions: z
      .array(z.string())
      .meta({ description: 'The permissions of the role in this organization.' }),
  })
  .meta({ id: 'Membership' });

export const sessionState = z
  .object({
    member: person,
    expires_at: time.meta({ description: 'When the session ends regardless of activity.' }),
    idle_expires_at: time.meta({ description: 'When the session ends without further requests.' }),
    memberships: z
      .array(membership)
      .meta({ description: 'The person’s organizations; operators can also access all others.' }),
    permissions: z.array(z.string()).meta({ description: 'Platform permissions: "platform:…".' }),
    signed_in_by: z.enum(['password', 'oidc']),
    second_factor: z.boolean().meta({ description: 'Whether two-factor authentication is enabled.' }),
    has_password: z.boolean(),
    time_zone: z
      .string()
      .meta({ description: 'The IANA time zone of the emails to the person; empty: unknown.' }),
    second_factor_setup_required: z.boolean().meta({
      description:
        'Everything but the own account is refused until the person sets up two-factor authentication.',
    }),
  })
  .meta({ id: 'SessionState' });

const sessionInList = z
  .object({
    id,
    device: z.string().meta({ description: 'The User-Agent header at sign-in.' }),
    ip_address: z.string().meta({ description: 'The last seen address.' }),
    created_at: time,
    last_seen_at: time.meta({ description: 'Accurate to a minute.' }),
    expires_at: time,
    signed_in_by: z.enum(['password', 'oidc']),
    current: z.boolean().meta({ description: 'Whether it is the session of this request.' }),
  })
  .meta({ id: 'Session' });

/** A bounded secret, such as a password or a code. */
export const credential = z.string().max(1_000);

export const sessionEndpoints = {
  signInOptions: endpoint({
    method: 'GET',
    path: '/api/sign-in-options',
    owner: 'auth',
    access: 'anyone',
    summary: 'Get the available sign-in methods',
    response: json(
      z.object({
        oidc: z
          .object({ label: z.string(), start_path: z.string() })
          .nullable()
          .meta({ description: 'Single sign-on; null when not configured.' }),
        password_reset_by_email: z.boolean(),
        operator_contact: z.string().nullable().meta({
          description: 'How people reach the operators: an email address or an https:// URL; null: unknown.',
        }),
      }),
    ),
  }),
  signIn: endpoint({
    method: 'POST',
    path: '/api/session',
    access: 'anyone',
    summary: 'Sign in',
    description:
      'Sets the session cookie. For an account with two-factor authentication, the error is `second_factor_required` until ' +
      '`code` is sent too: the six digits of the authenticator app, or a recovery code, which works once.',
    body: z.strictObject({ email: credential, password: credential, code: credential.optional() }),
    response: json(sessionState),
    audit: ['session.create', 'session.refuse'],
    errors: [
      'sign_in_refused',
      'second_factor_required',
      'second_factor_refused',
      'account_disabled',
      'too_many_attempts',
    ],
  }),
  current: endpoint({
    method: 'GET',
    path: '/api/session',
    owner: 'auth',
    access: 'signed_in',
    summary: 'Get the current session with its permissions',
    response: json(sessionState),
  }),
  signOut: endpoint({
    method: 'DELETE',
    path: '/api/session',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Sign out',
    body: emptyBody,
    response: noContent,
    audit: ['session.end'],
  }),
  confirm: endpoint({
    method: 'POST',
    path: '/api/session/confirm',
    owner: 'auth',
    timeoutMs: HASHING_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'Confirm the session by password or code',
    description:
      'Sensitive changes, which list the error `confirmation_required`, are accepted for five minutes afterwards, and after sign-in.',
    body: z.strictObject({ password: credential.optional(), code: credential.optional() }),
    response: noContent,
    errors: [
      'sign_in_refused',
      'second_factor_refused',
      'second_factor_required',
      'conflict',
      'too_many_attempts',
    ],
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/sessions',
    owner: 'auth',
    access: 'signed_in',
    summary: 'List your active sessions',
    query: pageQuery,
    response: json(page(sessionInList)),
  }),
  end: endpoint({
    method: 'DELETE',
    path: '/api/sessions/{session_id}',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'End one of your sessions',
    body: emptyBody,
    response: noContent,
    audit: ['session.end'],
  }),
  endOthers: endpoint({
    method: 'POST',
    path: '/api/sessions/end-others',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'signed_in',
    summary: 'End all your other sessions',
    body: emptyBody,
    response: json(z.object({ ended: z.int() })),
    audit: ['session.end_others'],
  }),
  startOidc: endpoint({
    method: 'GET',
    path: '/api/oidc/start',
    access: 'anyone',
    summary: 'Start single sign-on',
    description:
      'For browser navigation, not fetch: redirects to the identity provider, which redirects back to ' +
      '`/api/oidc/callback`. Errors redirect to the sign-in page, as described there. 404 when no provider is configured.',
    query: z.strictObject({
      return_to: z
        .string()
        .max(500)
        .default('/')
        .meta({ description: 'A path of the dashboard; anything else is treated as `/`.' }),
    }),
    response: redirect,
    errors: ['not_found'],
  }),
  finishOidc: endpoint({
    method: 'GET',
    path: '/api/oidc/callback',
    access: 'anyone',
    summary: 'Finish single sign-on',
    description:
      'Starts a session and redirects to `return_to`. Errors redirect to the sign-in page, ' +
      `\`/sign-in?error=…&request_id=…\`, with one of ${Object.keys(signInErrors)
        .map((code) => `\`${code}\``)
        .join(', ')}.`,
    query: z.looseObject({}),
    response: redirect,
    audit: ['session.create', 'session.refuse', 'member.create', 'member.link_identity', 'membership.create'],
    errors: ['not_found'],
  }),
  invitation: endpoint({
    method: 'POST',
    path: '/api/invitations/look-up',
    owner: 'auth',
    access: 'anyone',
    summary: 'Look up an invitation',
    description:
      'The token is the fragment of the link, after `#`. A cookie stores the last valid token for 30 minutes, so that it ' +
      'survives a sign-in. Without `token`, that one is used.',
    body: z.strictObject({ token: credential.optional() }),
    response: json(
      z.object({
        organization: z.object({ name: z.string() }),
        email: z.string(),
        role: organizationRole,
        expires_at: time,
        has_account: z.boolean().meta({
          description: 'Whether the person has an account and signs in instead of choosing a password.',
        }),
      }),
    ),
    errors: ['link_not_valid', 'too_many_attempts'],
  }),
  acceptInvitation: endpoint({
    method: 'POST',
    path: '/api/invitations/accept',
    access: 'anyone',
    summary: 'Accept an invitation',
    description:
      'A new person chooses a password and is signed in. A person with an account must be signed in as the invited person ' +
      'and sends no password; otherwise 401 `not_signed_in`. Without `token`, the last one looked up is used.',
    body: z.strictObject({
      token: credential.optional(),
      password: credential.optional(),
      name: z.string().max(1_000).optional().meta({ description: 'The name of a new person.' }),
    }),
    response: created(sessionState),
    audit: ['invitation.accept', 'member.create'],
    errors: ['link_not_valid', 'not_signed_in', 'too_many_attempts'],
  }),
  requestPasswordReset: endpoint({
    method: 'POST',
    path: '/api/password-reset',
    owner: 'auth',
    access: 'anyone',
    summary: 'Request a password reset email',
    description:
      'The response is the same whether or not the account exists. Without configured email it is 409 `conflict`; an operator can create a link instead.',
    body: z.strictObject({ email: credential }),
    response: noContent,
    audit: ['member.request_password_reset'],
    errors: ['too_many_attempts', 'conflict'],
  }),
  resetPassword: endpoint({
    method: 'POST',
    path: '/api/password-reset/complete',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'anyone',
    summary: 'Set a new password with a reset link',
    description:
      'The token is the fragment of the link, after `#`. Ends all sessions of the person. Two-factor authentication stays enabled.',
    body: z.strictObject({ token: credential, password: credential }),
    response: noContent,
    audit: ['member.reset_password'],
    errors: ['link_not_valid', 'too_many_attempts'],
  }),
} as const;
