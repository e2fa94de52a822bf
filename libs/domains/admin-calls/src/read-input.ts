import { DashboardError } from '@gateway/dashboard-contract';
import type { z } from 'zod';

/**
 * Validates a part of the request.
 *
 * @throws DashboardError `invalid` for the first issue.
 */
export function readInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  where: 'params' | 'body' | 'query' | 'headers',
): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: inWords });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const param = pathOf([...issue.path, issue.keys[0] ?? '']);
    const what = where === 'query' ? 'parameter' : 'field';
    throw new DashboardError('invalid', { message: `Unknown ${what}: ${param}.`, param });
  }
  const param = pathOf(issue?.path ?? []);
  if (param === '') throw new DashboardError('invalid', { message: 'The body must be a JSON object.' });
  throw new DashboardError('invalid', { message: `${param}: ${issue?.message ?? 'not valid'}.`, param });
}

/** For people, who do not know the validator. Schemas with a message of their own keep it. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'must not be empty'
        : `must ${verbOf(issue.origin)} at least ${sizeOf(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `must ${verbOf(issue.origin)} at most ${sizeOf(issue.origin, issue.maximum)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'is not valid';
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  date: 'must be a date such as 2026-11-30',
  datetime: 'must be a time such as 2026-11-30T12:00:00Z',
  email: 'must be an email address',
  url: 'must be a URL',
};

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'entry', set: 'entry' };

const verbOf = (origin: string) => (UNITS[origin] === undefined ? 'be' : 'have');

function sizeOf(origin: string, size: number | bigint): string {
  const unit = UNITS[origin];
  if (unit === undefined) return String(size);
  return `${size} ${size === 1 ? unit : `${unit.replace(/y$/, 'ie')}s`}`;
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}
