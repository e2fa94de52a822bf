import type { SignOnAnswer } from '../../core/single-sign-on/ports';

type Unsuccessful = Extract<SignOnAnswer, { readonly detail: string }>;

/** What a provider says (RFC 6749, OpenID Connect Core 3.1.2.6) when it or the person would rather not. */
const DENIALS = new Set([
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);
const AWAY = new Set(['temporarily_unavailable', 'server_error']);
const MAX_DETAIL_CHARACTERS = 300;

/**
 * Why nobody was identified. Only names of errors go into the detail: messages
 * and causes of openid-client may hold what the provider sent.
 */
export function unsuccessful(error: unknown): Unsuccessful {
  const { name, code, said, status } = read(error);
  const detail = [name, code, said, status === undefined ? undefined : `HTTP ${status}`]
    .filter(Boolean)
    .join(' ')
    .slice(0, MAX_DETAIL_CHARACTERS);
  return { kind: kindOf({ name, code, said, status }), detail };
}

interface Reason {
  readonly name: string;
  /** The library's. */
  readonly code: string | undefined;
  /** The provider's own word. */
  readonly said: string | undefined;
  /** Of an answer that was not to be expected. */
  readonly status: number | undefined;
}

function kindOf({ name, code, said, status }: Reason): Unsuccessful['kind'] {
  if (said !== undefined) return DENIALS.has(said) ? 'denied' : AWAY.has(said) ? 'unavailable' : 'failed';
  if (status !== undefined && status >= 500) return 'unavailable';
  return name === UNREACHED || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' ? 'unavailable' : 'failed';
}

/** How fetch says that nobody was reached. */
const UNREACHED = 'TypeError';

function read(error: unknown): Reason {
  if (!(error instanceof Error))
    return { name: 'unknown', code: undefined, said: undefined, status: undefined };
  const { code, error: said, status, cause } = error as Error & Record<string, unknown>;
  // The library may have wrapped what fetch has thrown, or what was answered.
  const behind = (cause ?? {}) as { readonly name?: unknown; readonly status?: unknown };
  return {
    name: behind.name === UNREACHED ? UNREACHED : error.name,
    code: word(code),
    said: word(said),
    status: [status, behind.status].find((one) => typeof one === 'number'),
  };
}

/** What a provider sends may be anything; names of errors have this form. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.:-]{1,60}$/.test(value) ? value : undefined;
}
