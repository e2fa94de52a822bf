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

/** What clients should do, in words. */
export const adviceTexts: Readonly<Record<Advice, string>> = {
  backoff: 'Retry with backoff, not before `retry-after` where it is sent.',
  fix: 'Change the request before sending it again.',
  act: 'Do not retry; top up, raise the budget, or wait for 00:00 UTC.',
  none: 'Retrying does not help; the failure was recorded.',
};

/** The envelope of each of these codes. */
export function errorSchemas(codes: readonly ErrorCode[]): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(codes.map((code) => [errorSchemaName(code), envelopeOf(code)]));
}

function envelopeOf(code: ErrorCode): JsonObject {
  const { when, param, metadata = {}, optionalMetadata = [] } = errorFacts[code];
  const members = {
    message: text('What is wrong, for people; its wording may change.'),
    type: constant(errorTable[code].type, 'The kind of error.'),
    ...(param === 'never' ? {} : { param: text(PARAM) }),
    code: constant(code, 'What to branch on.'),
    metadata: record(
      Object.keys(metadata).length === 0 ? 'Empty for this code.' : 'More for programs.',
      metadata,
      optionalMetadata,
    ),
  };
  return record(when, { error: record('What went wrong.', members, param === 'sometimes' ? ['param'] : []) });
}

/** Any error, for where the code does not follow from the status. */
export function errorDetailSchema(): JsonObject {
  const types = [...new Set(errorCodes.map((code) => errorTable[code].type))];
  return record(
    'An error; what the codes mean and what their `metadata` holds is told with the answers.',
    {
      message: text('What is wrong, for people; its wording may change.'),
      type: oneOfTexts('The kind of error.', types),
      param: text(PARAM),
      code: oneOfTexts('What to branch on.', errorCodes),
      metadata: { type: 'object', description: 'More for programs.' },
    },
    ['param'],
  );
}
