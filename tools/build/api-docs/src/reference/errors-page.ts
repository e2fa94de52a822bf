import { type Advice, type ErrorCode, errorCodes, errorTable } from '@gateway/errors';
import { isJsonObject } from '@gateway/public-api';
import { errorFacts } from '../openapi/error-facts';
import { chatCheckOrder } from './check-order';

const ADVICE: Readonly<Record<Advice, string>> = {
  backoff: 'retry with backoff',
  fix: 'change the request',
  act: 'act outside the request: add credit, raise the budget, or wait for 00:00 UTC',
  none: 'do not retry; report the `x-request-id`',
};

/** The numbered list of checks in docs/reference/errors.md. */
export function checkOrderReference(): string {
  return chatCheckOrder
    .map(({ checks, codes }, index) => {
      const number = `${index + 1}. `;
      return `${number}${checks}\n${' '.repeat(number.length)}→ ${codes.map(quoted).join(', ')}`;
    })
    .join('\n');
}

/** One section per code, from the error table. */
export function errorCodesReference(): string {
  return errorCodes.map(renderCode).join('\n\n');
}

function renderCode(code: ErrorCode): string {
  const { httpStatus, type, advice, retryAfterMs } = errorTable[code] as (typeof errorTable)[ErrorCode] & {
    readonly retryAfterMs?: number;
  };
  const { when, param, metadata = {} } = errorFacts[code];
  const retryAfter = retryAfterMs === undefined ? '' : `, after ${retryAfterMs / 1_000} s`;
  return [
    `### \`${code}\``,
    '',
    when,
    '',
    `- Status ${httpStatus}, type \`${type}\``,
    `- What to do: ${ADVICE[advice]}${retryAfter}`,
    ...(param === 'never'
      ? []
      : [`- \`param\`: ${param === 'always' ? 'the field' : 'the field, where one is wrong'}`]),
    ...Object.entries(metadata).map(
      ([name, schema]) =>
        `- \`metadata.${name}\`: ${isJsonObject(schema) ? String(schema['description']) : ''}`,
    ),
  ].join('\n');
}

function quoted(code: string): string {
  return `\`${code}\``;
}
