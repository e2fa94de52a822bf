import { refuse, type Refusal } from '@gateway/errors';
import type { CheckedFields } from '../schema/checked-fields';
import type { CallerPolicy, ModelView } from '../types';
import { hasCapability } from './model-support';

/** Whether the response must be JSON; `{"type": "text"}` is the default format. */
export function isJsonMode({ response_format: format }: CheckedFields): boolean {
  return format !== undefined && format.type !== 'text';
}

/** json_mode_no_stream: a JSON response format together with stream, with a key that does not allow it. */
export function checkJsonStreaming(
  fields: CheckedFields,
  { jsonStreaming }: CallerPolicy,
): Refusal | undefined {
  return isJsonMode(fields) && fields.stream === true && !jsonStreaming
    ? refuse('json_mode_no_stream', { param: 'response_format' })
    : undefined;
}

/** json_mode_not_supported: a JSON response format that the model cannot enforce. */
export function checkJsonModeSupported(
  { response_format: format }: CheckedFields,
  model: ModelView,
): Refusal | undefined {
  if (format === undefined || format.type === 'text') return undefined;
  const capability = format.type === 'json_schema' ? 'structured_outputs' : 'json_mode';
  return hasCapability(model, capability)
    ? undefined
    : refuse('json_mode_not_supported', {
        message: `The model '${model.id}' cannot enforce the response format '${format.type}'.`,
        param: 'response_format',
      });
}
