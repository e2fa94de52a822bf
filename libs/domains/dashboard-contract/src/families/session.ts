import { z } from 'zod';
import { created, endpoint, json, nothing, redirect } from '../endpoint';
import { emptyBody, id, page, pageQuery, time } from '../fields';
import { signInErrors } from '../sign-in-errors';
import { organizationRole, person } from './people';

/** Whose turn it is: sign-in, the session, and the sessions of whoever is signed in. */

const membership = z
  .object({
    organization: z.object({ id, name: z.string(), suspended: z.boolean() }),
    role: organizationRole,
    permissions: z.array(z.string()).meta({ description: 'what the role allows in this organization' }),
  })
  .meta({ id: 'Membership' });

export const sessionState = z
  .object({
    member: person,
    expires_at: time.meta({ description: 'when it ends for good, however busy' }),
    idle_expires_at: time.meta({ description: 'when it ends unless something is asked before' }),
    memberships: z
      .array(membership)
      .meta({ description: 'the organizations of this person; operators may enter all others too' }),
    permissions: z
      .array(z.string())
      .meta({ description: 'what the person may beside organizations: "platform:…"' }),
    signed_in_by: z.enum(['password', 'oidc']),
    second_factor: z.boolean().meta({ description: 'whether the account asks for a code too' }),
    has_password: z.boolean(),
  })
  .meta({ id: 'SessionState' });

const sessionInList = z
  .object({
    id,
    device: z
      .string()
      .meta({ description: 'the browser and system that signed in, as they call themselves' }),
    ip_address: z.string().meta({ description: 'where it was last seen' }),
    created_at: time,
    last_seen_at: time.meta({ description: 'to the minute' }),
    expires_at: time,
    signed_in_by: z.enum(['password', 'oidc']),
    current: z.boolean().meta({ description: 'whether it is the one that asks' }),
  })
  .meta({ id: 'Session' });

/** Long enough for anything a person types, and for nothing else. */
export const credential = z.string().max(1_000);

export const sessionEndpoints = {
  signInOptions: endpoint({
    method: 'GET',
    path: '/api/sign-in-options',
    who: 'anyone',
    summary: 'What the sign-in page offers',
    answer: json(
      z.object({
        oidc: z
          .object({ label: z.string(), start_path: z.string() })
          .nullable()
          .meta({ description: 'single sign-on; null when it is not configured' }),
        password_reset_by_mail: z.boolean(),
      }),
    ),
  }),
  signIn: endpoint({
    method: 'POST',
    path: '/api/session',
    who: 'anyone',
    summary: 'Sign in',
    description:
      'Sets the cookie. An account with a second factor answers `second_factor_required` until `code` is sent too: ' +
      'the six digits of the authenticator app, or a recovery code, which is then used up.',
    body: z.strictObject({ email: credential, password: credential, code: credential.optional() }),
    answer: json(sessionState),
    audit: ['session.create'],
    errors: ['sign_in_refused', 'second_factor_required', 'second_factor_refused', 'too_many_attempts'],
  }),
  current: endpoint({
    method: 'GET',
    path: '/api/session',
    who: 'signed_in',
    summary: 'Who is signed in, and what they may do where',
    answer: json(sessionState),
  }),
  signOut: endpoint({
    method: 'DELETE',
    path: '/api/session',
    who: 'signed_in',
    summary: 'End this session at once',
    body: emptyBody,
    answer: nothing,
    audit: ['session.end'],
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/sessions',
    who: 'signed_in',
    summary: 'The running sessions of whoever is signed in',
    query: pageQuery,
    answer: json(page(sessionInList)),
  }),
  end: endpoint({
    method: 'DELETE',
    path: '/api/sessions/{session_id}',
    who: 'signed_in',
    summary: 'End one of the own sessions at once',
    body: emptyBody,
    answer: nothing,
    audit: ['session.end'],
  }),
  endOthers: endpoint({
    method: 'POST',
    path: '/api/sessions/end-others',
    who: 'signed_in',
    summary: 'End all own sessions but this one',
    body: emptyBody,
    answer: json(z.object({ ended: z.int() })),
    audit: ['session.end_others'],
  }),
  startOidc: endpoint({
    method: 'GET',
    path: '/api/oidc/start',
    who: 'anyone',
    summary: 'Go to the single sign-on',
    description:
      'To be opened by the browser, not by fetch: it is sent on to the identity provider, and comes back to ' +
      '`/api/oidc/callback`. What goes wrong is told to the sign-in page, as there. 404 where no provider is configured: ' +
      '`oidc` of the sign-in options is null then.',
    query: z.strictObject({
      return_to: z
        .string()
        .max(500)
        .default('/')
        .meta({ description: 'a path of the dashboard; anything else counts as /' }),
    }),
    answer: redirect,
    errors: ['not_found'],
  }),
  finishOidc: endpoint({
    method: 'GET',
    path: '/api/oidc/callback',
    who: 'anyone',
    summary: 'Where the single sign-on comes back to',
    description:
      'Opens a session and goes on to where the sign-in was started. What goes wrong is told to the sign-in page, ' +
      `as \`/sign-in?error=…&request_id=…\` with one of ${Object.keys(signInErrors)
        .map((code) => `\`${code}\``)
        .join(', ')}.`,
    query: z.looseObject({}),
    answer: redirect,
    audit: ['session.create', 'member.create', 'member.link_identity', 'membership.create'],
    errors: ['not_found'],
  }),
  invitation: endpoint({
    method: 'POST',
    path: '/api/invitations/look-up',
    who: 'anyone',
    summary: 'What an invitation is for',
    description:
      'The token is what follows `#` in the link. Of the last good one the browser keeps a cookie for thirty minutes, ' +
      'so that signing in on the way, at an identity provider too, does not lose it: without `token` it is that one.',
    body: z.strictObject({ token: credential.optional() }),
    answer: json(
      z.object({
        organization: z.object({ name: z.string() }),
        email: z.string(),
        role: organizationRole,
        expires_at: time,
        has_account: z.boolean().meta({
          description: 'whether the person exists already, and signs in rather than choose a password',
        }),
      }),
    ),
    errors: ['link_not_valid', 'too_many_attempts'],
  }),
  acceptInvitation: endpoint({
    method: 'POST',
    path: '/api/invitations/accept',
    who: 'anyone',
    summary: 'Accept an invitation',
    description:
      'Who is new chooses a password and is signed in. Who has an account has to be signed in as the person invited, ' +
      'and sends no password; else 401 `not_signed_in`. Without `token` it is the one that was looked up last.',
    body: z.strictObject({ token: credential.optional(), password: credential.optional() }),
    answer: created(sessionState),
    audit: ['invitation.accept', 'member.create'],
    errors: ['link_not_valid', 'not_signed_in', 'too_many_attempts'],
  }),
  requestPasswordReset: endpoint({
    method: 'POST',
    path: '/api/password-reset',
    who: 'anyone',
    summary: 'Ask for a link to choose a new password',
    description:
      'Answers the same whether or not there is such an account. Where no mail is configured it is 409 `conflict`, and an operator makes the link.',
    body: z.strictObject({ email: credential }),
    answer: nothing,
    audit: ['member.request_password_reset'],
    errors: ['too_many_attempts', 'conflict'],
  }),
  resetPassword: endpoint({
    method: 'POST',
    path: '/api/password-reset/complete',
    who: 'anyone',
    summary: 'Choose a new password by a link',
    description:
      'The token is what follows `#` in the link. Ends all sessions of the person, who then signs in; a second factor stays.',
    body: z.strictObject({ token: credential, password: credential }),
    answer: nothing,
    audit: ['member.reset_password'],
    errors: ['link_not_valid', 'too_many_attempts'],
  }),
} as const;
