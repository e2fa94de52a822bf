import { errorCodes, errorTable, type Advice, type ErrorCode } from '@gateway/errors';
import type { JsonObject } from '@gateway/public-api';
import { errorFacts } from './error-facts';
import { constant, oneOfTexts, record, text } from './schema';

const PARAM = 'The offending field, such as `messages[0].content`.';

/** The name of a code's schema: `rpm_exceeded` is RpmExceededError. */
export function errorSchemaName(code: ErrorCode): string {
  const words = code.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('').replace(/Error$/, '')}Error`;
}

/** What a client should do. */
export const adviceTexts: Readonly<Record<Advice, string>> = {
  backoff: 'Retry with backoff, not before `retry-after` where it is sent.',
  fix: 'Change the request before sending it again.',
  act: 'Do not retry; add credit, raise the budget, or wait for 00:00 UTC.',
  none: 'Do not retry; the failure was logged.',
};

/** The error body of each code. */
export function errorSchemas(codes: readonly ErrorCode[]): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(codes.map((code) => [errorSchemaName(code), envelopeOf(code)]));
}

function envelopeOf(code: ErrorCode): JsonObject {
  const { when, param, metadata = {}, optionalMetadata = [] } = errorFacts[code];
  const members = {
    message: text('What is wrong, for people. The wording may change.'),
    type: constant(errorTable[code].type, 'The kind of error.'),
    ...(param === 'never' ? {} : { param: text(PARAM) }),
    code: constant(code, 'The code to branch on.'),
    metadata: record(
      Object.keys(metadata).length === 0 ? 'Empty for this code.' : 'Details for programs.',
      metadata,
      optionalMetadata,
    ),
  };
  return record(when, { error: record('The error.', members, param === 'sometimes' ? ['param'] : []) });
}

/** Any error, where the status does not determine the code. */
export function errorDetailSchema(): JsonObject {
  const types = [...new Set(errorCodes.map((code) => errorTable[code].type))];
  return record(
    'An error. The responses describe the codes and their `metadata`.',
    {
      message: text('What is wrong, for people. The wording may change.'),
      type: oneOfTexts('The kind of error.', types),
      param: text(PARAM),
      code: oneOfTexts('The code to branch on.', errorCodes),
      metadata: { type: 'object', description: 'Details for programs.' },
    },
    ['param'],
  );
}
