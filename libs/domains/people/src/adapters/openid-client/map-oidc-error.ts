import type { IdentityResult } from '../../core/single-sign-on/ports';

type OidcFailure = Extract<IdentityResult, { readonly detail: string }>;

/** Error codes for a sign-in that the user or the provider declined (RFC 6749, OpenID Connect Core 3.1.2.6). */
const DENIALS = new Set([
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);
const TEMPORARY = new Set(['temporarily_unavailable', 'server_error']);
const MAX_DETAIL_CHARACTERS = 300;

/**
 * Maps an error of openid-client or `fetch` to the outcome of a sign-in. The
 * detail contains only error names: messages and causes may contain data from
 * the provider, such as tokens.
 */
export function mapOidcError(error: unknown): OidcFailure {
  const { name, code, oauthError, status } = read(error);
  const detail = [name, code, oauthError, status === undefined ? undefined : `HTTP ${status}`]
    .filter(Boolean)
    .join(' ')
    .slice(0, MAX_DETAIL_CHARACTERS);
  return { kind: kindOf({ name, code, oauthError, status }), detail };
}

interface Reason {
  readonly name: string;
  /** The error code of openid-client. */
  readonly code: string | undefined;
  /** The `error` field of the provider's response. */
  readonly oauthError: string | undefined;
  /** The HTTP status of an unexpected response. */
  readonly status: number | undefined;
}

function kindOf({ name, code, oauthError, status }: Reason): OidcFailure['kind'] {
  if (oauthError !== undefined) {
    if (DENIALS.has(oauthError)) return 'denied';
    return TEMPORARY.has(oauthError) ? 'unavailable' : 'failed';
  }
  if (status !== undefined && status >= 500) return 'unavailable';
  return name === CONNECTION_FAILED || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT'
    ? 'unavailable'
    : 'failed';
}

/** The name of the error with which `fetch` rejects when it cannot connect. */
const CONNECTION_FAILED = 'TypeError';

function read(error: unknown): Reason {
  if (!(error instanceof Error))
    return { name: 'unknown', code: undefined, oauthError: undefined, status: undefined };
  const { code, error: oauthError, status, cause: rawCause } = error as Error & Record<string, unknown>;
  // The library may have wrapped an error of `fetch`, or a response.
  const cause = (rawCause ?? {}) as { readonly name?: unknown; readonly status?: unknown };
  return {
    name: cause.name === CONNECTION_FAILED ? CONNECTION_FAILED : error.name,
    code: errorName(code),
    oauthError: errorName(oauthError),
    status: [status, cause.status].find((one) => typeof one === 'number'),
  };
}

/** Only text in the form of an error name is logged: a provider can send anything. */
function errorName(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.:-]{1,60}$/.test(value) ? value : undefined;
}
