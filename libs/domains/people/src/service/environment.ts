import { isEmailAddress } from '@gateway/base';
import { flagSetting } from '@gateway/runtime';
import { secretsEnvironment } from '@gateway/secrets';
import { z } from 'zod';
import type { PeopleSettings } from '../core/ports';
import type { OidcSettings } from '../core/single-sign-on/ports';

export const DEFAULT_PEOPLE_SETTINGS: PeopleSettings = {
  sessionLifetimeMs: 12 * 60 * 60_000,
  sessionIdleMs: 2 * 60 * 60_000,
  operatorsNeedSecondFactor: false,
};

const MIN_SESSION_MS = 5 * 60_000;
const MAX_SESSION_MS = 30 * 86_400_000;
/** At least 5 minutes, since session activity is recorded once a minute. */
const sessionTime = z.coerce.number().int().min(MIN_SESSION_MS).max(MAX_SESSION_MS);

/** https:// is required, since secrets are exchanged; http:// is allowed on loopback addresses only. */
const issuer = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .refine((url) => url.startsWith('https:') || LOOPBACK.test(new URL(url).hostname), {
    error: 'must be an https:// URL; http:// is allowed for a provider on the same host only',
  });
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const MAX_LABEL_CHARACTERS = 60;
const operatorContact = z
  .string()
  .max(320)
  .refine((text) => isEmailAddress(text) || /^https:\/\/[^\s]+$/.test(text), {
    error: 'must be an email address or an https:// URL',
  });

/** Settings of each app that runs this module. */
export const peopleEnvironment = {
  ...secretsEnvironment,
  GATEWAY_OIDC_ISSUER: issuer
    .optional()
    .describe(
      'Issuer URL of the OpenID Connect provider for single sign-on, exactly as the provider reports it. http:// is accepted for loopback addresses only.',
    ),
  GATEWAY_OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Client ID of the gateway at the identity provider. Register the dashboard's origin with `/api/oidc/callback` as redirect URI.",
    ),
  GATEWAY_OIDC_CLIENT_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Client secret of the gateway at the identity provider. Issuer, client ID and client secret are set together.',
    ),
  GATEWAY_OIDC_LABEL: z
    .string()
    .trim()
    .min(1)
    .max(MAX_LABEL_CHARACTERS)
    .default('Single sign-on')
    .describe('Text of the single sign-on button on the sign-in page; at most 60 characters.'),
  GATEWAY_OPERATOR_CONTACT: operatorContact
    .optional()
    .describe(
      'How people reach the operators: an email address or an https:// URL. The dashboard shows it wherever only an operator can help, also before sign-in.',
    ),
  GATEWAY_SESSION_LIFETIME_MS: sessionTime
    .default(DEFAULT_PEOPLE_SETTINGS.sessionLifetimeMs)
    .describe('Lifetime of a dashboard session, in milliseconds, from 5 minutes to 30 days.'),
  GATEWAY_SESSION_IDLE_MS: sessionTime
    .default(DEFAULT_PEOPLE_SETTINGS.sessionIdleMs)
    .describe(
      'Milliseconds without a request of a person after which a dashboard session expires, from 5 minutes to 30 days. Polls of an open page do not count.',
    ),
  GATEWAY_OPERATORS_NEED_SECOND_FACTOR: flagSetting
    .default(DEFAULT_PEOPLE_SETTINGS.operatorsNeedSecondFactor)
    .describe(
      'Whether operators without a second factor must set one up before anything else. Not after single sign-on: there the identity provider is responsible.',
    ),
};

export type PeopleEnvironment = z.output<z.ZodObject<typeof peopleEnvironment>>;

const OIDC_SETTINGS = [
  'GATEWAY_OIDC_ISSUER',
  'GATEWAY_OIDC_CLIENT_ID',
  'GATEWAY_OIDC_CLIENT_SECRET',
] as const satisfies (keyof PeopleEnvironment)[];

/** Requires all settings of single sign-on or none. For `superRefine` of each app that runs this module. */
export function requireCompleteOidc(values: PeopleEnvironment, context: z.RefinementCtx): void {
  if (OIDC_SETTINGS.every((name) => values[name] === undefined)) return;
  for (const name of OIDC_SETTINGS) {
    if (values[name] !== undefined) continue;
    context.addIssue({ code: 'custom', path: [name], message: 'is required for single sign-on' });
  }
}

/** @returns undefined if single sign-on is not configured. */
export function oidcSettingsOf(values: PeopleEnvironment): OidcSettings | undefined {
  const { GATEWAY_OIDC_ISSUER: issuer, GATEWAY_OIDC_CLIENT_ID: clientId, GATEWAY_OIDC_LABEL: label } = values;
  const { GATEWAY_OIDC_CLIENT_SECRET: clientSecret } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret, label };
}

export function peopleSettingsOf(values: PeopleEnvironment): PeopleSettings {
  return {
    sessionLifetimeMs: values.GATEWAY_SESSION_LIFETIME_MS,
    sessionIdleMs: values.GATEWAY_SESSION_IDLE_MS,
    operatorsNeedSecondFactor: values.GATEWAY_OPERATORS_NEED_SECOND_FACTOR,
    operatorContact: values.GATEWAY_OPERATOR_CONTACT,
  };
}
