import { asObject, textOrNumber } from '../../completion/json';
import type { FailureKind } from '../../failure/upstream-failure';
import type { ProviderError } from '../dialect';
import { isContextLengthError, isUnknownModelError } from '../error-texts';
import { kindOfStatus as kindByStatus } from '../failures';

const THROTTLED_TEXT = /rate[\s_-]?limit|too many requests|overloaded|capacity/i;
/** Errors of the operator's account, which waiting does not resolve. */
const ACCOUNT_ERRORS = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active']);
const NO_ERROR: ProviderError = { message: '', code: '', type: '', param: undefined };
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_.[\]-]{0,127}$/;

/** Parses `{error: {…}}`, `[{error: {…}}]`, `{error: "…"}`, `{object: "error", …}` and FastAPI's `{detail: …}`. */
export function readError(body: unknown): ProviderError {
  return readErrorObject(body) ?? readDetail(asObject(body)?.['detail']) ?? NO_ERROR;
}

/** The same without `detail`, which is not an error in a 2xx response; undefined when there is no error. */
export function readErrorObject(response: unknown): ProviderError | undefined {
  const outer = asObject(Array.isArray(response) ? response[0] : response);
  if (!outer) return undefined;
  const inner = outer['error'];
  if (typeof inner === 'string' && inner.length > 0) {
    return { ...NO_ERROR, message: inner, type: textOrNumber(outer['error_type']) };
  }
  // Some servers return the bare error object: {object: "error", message}.
  const error = asObject(inner) ?? (outer['object'] === 'error' ? outer : undefined);
  if (!error) return undefined;
  const param = error['param'];
  return {
    message: textOrNumber(error['message']),
    code: textOrNumber(error['code']),
    type: textOrNumber(error['type']),
    param: typeof param === 'string' && FIELD_PATH.test(param) ? publicParam(param) : undefined,
  };
}

/**
 * A 404, or a 400 about an unknown model, is an error in our mapping: the public model id was found in the catalogue.
 *
 * @param status of the response; undefined for an error within a 2xx response.
 */
export function kindOfError(
  error: ProviderError,
  status: number | undefined,
  providerModel: string,
): FailureKind {
  return status === undefined
    ? kindInResponse(error, providerModel)
    : kindOfStatus(status, error, providerModel);
}

function kindInResponse(error: ProviderError, providerModel: string): FailureKind {
  const status = Number(error.code);
  if (Number.isInteger(status) && status >= 400 && status < 600)
    return kindOfStatus(status, error, providerModel);
  if (/authentication|permission/i.test(error.type) || isAccountError(error)) return 'misconfigured';
  if (THROTTLED_TEXT.test(`${error.type} ${error.code}`)) return 'throttled';
  if (/invalid_request|badrequest/i.test(error.type) || isContextLengthError(error)) {
    return kindOfRejection(error, providerModel);
  }
  return 'failed';
}

function kindOfStatus(status: number, error: ProviderError, providerModel: string): FailureKind {
  const kind = kindByStatus(status);
  if (kind === 'throttled' && isAccountError(error)) return 'misconfigured';
  return kind === 'rejected' ? kindOfRejection(error, providerModel) : kind;
}

function kindOfRejection(error: ProviderError, providerModel: string): FailureKind {
  if (isContextLengthError(error)) return 'context_too_long';
  if (isUnknownModelError(error, providerModel)) return 'misconfigured';
  return 'rejected';
}

function isAccountError({ code, type }: ProviderError): boolean {
  return ACCOUNT_ERRORS.has(code) || ACCOUNT_ERRORS.has(type);
}

function readDetail(detail: unknown): ProviderError | undefined {
  if (typeof detail === 'string') return { ...NO_ERROR, message: detail };
  if (Array.isArray(detail)) return { ...NO_ERROR, message: textOrNumber(asObject(detail[0])?.['msg']) };
  return undefined;
}

/** Clients know the output limit as max_tokens, whatever its name at the provider. */
function publicParam(param: string): string {
  return param === 'max_completion_tokens' ? 'max_tokens' : param;
}
