import { asObject, nonEmptyText, textOrNumber, type JsonObject } from '../../completion/json';
import type { FailureKind } from '../../failure/upstream-failure';
import type { ProviderError } from '../dialect';
import { kindOfStatus } from '../failures';
import { publicParamOf } from './public-param';

const NO_ERROR: ProviderError = { message: '', code: '', type: '', param: undefined };

/** The upper limit of the wait in an error, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Requests that exceed the context window. */
const CONTEXT_TEXT = /token count\b.{0,80}?\b(?:exceeds|only supports up to)|(?:prompt|input) is too long/is;

/** Errors of the operator's key, which Google reports as an invalid argument, too. */
const KEY_TEXT = /\bAPI[ _]key\b.{0,60}?\b(?:not valid|invalid|expired|not found|leaked)/is;

/** Credit and quotas of the operator's account that are used up, or that it never had. */
const ACCOUNT_TEXT =
  /\bcredits? (?:are|is) depleted|\bprepaid\b|\bprepayment\b|\blimit: 0\b|spend(?:ing)? (?:cap|limit)/i;

/** Our code of an error about the operator's credit, or about a quota that is zero or counts whole days. */
const ACCOUNT_EXHAUSTED = 'ACCOUNT_EXHAUSTED';

/** Reasons of `google.rpc.ErrorInfo` that say more than the status. All others are read by status. */
const reasons: Readonly<Record<string, FailureKind>> = {
  API_KEY_INVALID: 'misconfigured',
  RATE_LIMIT_EXCEEDED: 'throttled',
  // The finish reason of a request whose function calls lack their signatures.
  MISSING_THOUGHT_SIGNATURE: 'rejected',
};

/** By the status of `google.rpc.Status`. INVALID_ARGUMENT, OUT_OF_RANGE and RESOURCE_EXHAUSTED have rules of their own. */
const statuses: Readonly<Record<string, FailureKind>> = {
  // The account's region or billing does not permit the call.
  FAILED_PRECONDITION: 'misconfigured',
  UNAUTHENTICATED: 'misconfigured',
  PERMISSION_DENIED: 'misconfigured',
  NOT_FOUND: 'misconfigured',
  UNIMPLEMENTED: 'misconfigured',
  UNAVAILABLE: 'unavailable',
  ABORTED: 'failed',
  CANCELLED: 'failed',
  DEADLINE_EXCEEDED: 'failed',
  INTERNAL: 'failed',
  UNKNOWN: 'failed',
  DATA_LOSS: 'failed',
};

/** Reads `{error: google.rpc.Status}`, also within an array, in which streams without `alt=sse` report it. */
export function readError(body: unknown): ProviderError {
  return readErrorObject(body) ?? NO_ERROR;
}

/** @returns undefined when the body has no error. */
export function readErrorObject(body: unknown): ProviderError | undefined {
  const outer = asObject(Array.isArray(body) ? body[0] : body);
  const error = asObject(outer?.['error']);
  if (!error) return undefined;
  const details = objectsIn(error['details']);
  const message = textOrNumber(error['message']);
  const type = textOrNumber(error['status']);
  const isAccountExhausted = type === 'RESOURCE_EXHAUSTED' && isAccountError(message, details);
  return {
    message,
    code: isAccountExhausted
      ? ACCOUNT_EXHAUSTED
      : (reasonOf(details) ?? (type || textOrNumber(error['code']))),
    type,
    param: paramOf(details),
    ...waitOf(details),
  };
}

/** The error of a completion that a finish reason reports as failed. */
export function errorOfFinish(reason: string, finishMessage: unknown): ProviderError {
  const message = textOrNumber(finishMessage);
  return { ...NO_ERROR, code: reason, message: message === '' ? `finish reason ${reason}` : message };
}

/**
 * @param status of the response; undefined for an error within a 2xx response.
 * @param providerModel the model name in the request.
 */
export function kindOfError(
  error: ProviderError,
  status: number | undefined,
  providerModel: string,
): FailureKind {
  if (status === 408) return 'timed_out';
  if (error.code === ACCOUNT_EXHAUSTED) return 'misconfigured';
  const byReason = Object.hasOwn(reasons, error.code) ? reasons[error.code] : undefined;
  if (byReason !== undefined) return byReason;
  switch (error.type) {
    case 'INVALID_ARGUMENT':
    case 'OUT_OF_RANGE':
      return kindOfRejection(error, providerModel);
    case 'RESOURCE_EXHAUSTED':
      return 'throttled';
    default:
  }
  const byStatus = Object.hasOwn(statuses, error.type) ? statuses[error.type] : undefined;
  if (byStatus !== undefined) return byStatus;
  const known = status ?? Number(error.code);
  const kind = Number.isNaN(known) ? 'failed' : kindOfStatus(known);
  return kind === 'rejected' ? kindOfRejection(error, providerModel) : kind;
}

function kindOfRejection({ message }: ProviderError, providerModel: string): FailureKind {
  if (CONTEXT_TEXT.test(message)) return 'context_too_long';
  if (KEY_TEXT.test(message)) return 'misconfigured';
  const isUnknownModel =
    message.includes(providerModel) &&
    /\bmodel\b.{0,300}?\b(?:not found|does not exist|not supported)/is.test(message);
  return isUnknownModel ? 'misconfigured' : 'rejected';
}

function isAccountError(message: string, details: readonly JsonObject[]): boolean {
  return ACCOUNT_TEXT.test(message) || violationsOf(details, 'QuotaFailure').some(isAccountQuota);
}

/** A quota of zero, which the account does not have, or one that is restored by the next day. */
function isAccountQuota({ quotaId, quotaValue }: JsonObject): boolean {
  return quotaValue === '0' || quotaValue === 0 || /PerDay/i.test(textOrNumber(quotaId));
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.map(asObject).filter((value) => value !== undefined) : [];
}

function findDetail(details: readonly JsonObject[], name: string): JsonObject | undefined {
  return details.find((detail) => textOrNumber(detail['@type']).endsWith(`/google.rpc.${name}`));
}

function reasonOf(details: readonly JsonObject[]): string | undefined {
  return nonEmptyText(findDetail(details, 'ErrorInfo')?.['reason']);
}

function violationsOf(details: readonly JsonObject[], name: string): readonly JsonObject[] {
  const detail = findDetail(details, name);
  const violations = detail?.['violations'] ?? detail?.['fieldViolations'];
  return objectsIn(violations);
}

function paramOf(details: readonly JsonObject[]): string | undefined {
  return publicParamOf(textOrNumber(violationsOf(details, 'BadRequest')[0]?.['field']));
}

/** The wait of `RetryInfo`: a duration such as "34.4s", or its seconds and nanoseconds. */
function waitOf(details: readonly JsonObject[]): { retryAfterMs?: number } {
  const delay = findDetail(details, 'RetryInfo')?.['retryDelay'];
  const parts = asObject(delay);
  const seconds = parts
    ? Number(parts['seconds'] ?? 0) + Number(parts['nanos'] ?? 0) / 1e9
    : Number(/^(\d+(?:\.\d+)?)s$/.exec(textOrNumber(delay))?.[1]);
  if (!Number.isFinite(seconds) || seconds < 0) return {};
  return { retryAfterMs: Math.min(Math.ceil(seconds * 1000), MAX_RETRY_AFTER_MS) };
}
