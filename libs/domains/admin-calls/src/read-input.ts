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
  const parsed = schema.safeParse(input);
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

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}
