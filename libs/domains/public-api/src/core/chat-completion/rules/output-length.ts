import { refuse, type Refusal } from '@gateway/errors';
import type { CheckedFields } from '../schema/checked-fields';
import type { CallerPolicy, ModelView } from '../types';

type Name = 'max_tokens' | 'max_completion_tokens';
type OutputFields = Pick<CheckedFields, Name>;

/** The requested output length, with the field that was used. */
function requestedOutput(fields: OutputFields): { readonly name: Name; readonly tokens: number } | undefined {
  if (fields.max_tokens !== undefined) return { name: 'max_tokens', tokens: fields.max_tokens };
  if (fields.max_completion_tokens !== undefined) {
    return { name: 'max_completion_tokens', tokens: fields.max_completion_tokens };
  }
  return undefined;
}

/**
 * max_tokens_exceeds_cap: more output than the organization's cap. The public
 * contract fixes its param to max_tokens, whichever of the two fields was sent.
 */
export function checkOutputCap(fields: CheckedFields, policy: CallerPolicy): Refusal | undefined {
  const requested = requestedOutput(fields);
  const cap = policy.maxOutputTokensCap;
  if (requested === undefined || cap === undefined || requested.tokens <= cap) return undefined;
  return refuse('max_tokens_exceeds_cap', {
    message: `${requested.name} is ${requested.tokens}, above your organization's cap of ${cap} tokens.`,
    param: 'max_tokens',
    metadata: { limit: cap },
  });
}

/**
 * The output length to send to the model. Absent max_tokens means the most that
 * the cap, the model and the rest of its context window allow. A value above the
 * model's maximum is lowered to it, since agents request tens of thousands of
 * tokens from every model.
 *
 * @returns context_length_exceeded when input and output do not fit together.
 */
export function fitOutput(
  fields: OutputFields,
  policy: CallerPolicy,
  model: ModelView,
  inputTokens: number,
): number | Refusal {
  const requested = requestedOutput(fields)?.tokens;
  const room = model.contextLength - inputTokens;
  const least = requested ?? 1;
  if (least > room) return contextLengthExceeded(model, inputTokens, least);
  return Math.min(requested ?? policy.maxOutputTokensCap ?? Infinity, model.maxOutputTokens, room);
}

/** Client libraries recognize this error by the start of its text. */
function contextLengthExceeded(model: ModelView, inputTokens: number, outputTokens: number): Refusal {
  const total = inputTokens + outputTokens;
  return refuse('context_length_exceeded', {
    message:
      `This model's maximum context length is ${model.contextLength} tokens. However, you requested ` +
      `${total} tokens (${inputTokens} in the messages, ${outputTokens} in the completion). ` +
      'Please reduce the length of the messages or the completion.',
    param: 'messages',
    metadata: { estimated_tokens: total, limit: model.contextLength },
  });
}
