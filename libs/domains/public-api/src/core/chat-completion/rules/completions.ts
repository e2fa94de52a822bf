import { refuse, type Refusal } from '@gateway/errors';
import type { CheckedFields } from '../schema/checked-fields';
import type { CallerPolicy } from '../types';
import { invalidValue } from './field-values';

/** Maximum completions per request for organizations that may request several. */
const MAX_COMPLETIONS = 128;

/** n_not_allowed: more than one completion, unless enabled for the organization. */
export function checkCompletions({ n = 1 }: CheckedFields, policy: CallerPolicy): Refusal | undefined {
  if (n === 1) return undefined;
  if (!policy.multipleCompletions) return refuse('n_not_allowed', { param: 'n' });
  return n > MAX_COMPLETIONS ? invalidValue('n', `it must be at most ${MAX_COMPLETIONS}.`) : undefined;
}
