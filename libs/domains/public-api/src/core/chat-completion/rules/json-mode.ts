import { refuse, type Refusal } from '@gateway/errors';
import type { CheckedFields } from '../schema/checked-fields';
import type { ModelView } from '../types';
import { hasCapability } from './model-support';

/** Whether the response must be JSON; `{"type": "text"}` is the default format. */
export function isJsonMode({ response_format: format }: CheckedFields): boolean {
  return format !== undefined && format.type !== 'text';
}

/** json_mode_no_stream: a JSON response format together with stream. */
export function checkJsonModeWithoutStream(fields: CheckedFields): Refusal | undefined {
  return isJsonMode(fields) && fields.stream === true
    ? refuse('json_mode_no_stream', { param: 'response_format' })
    : undefined;
}

/** json_mode_not_supported: a JSON response format for a model that cannot enforce one. */
export function checkJsonModeSupported(fields: CheckedFields, model: ModelView): Refusal | undefined {
  return !isJsonMode(fields) || hasCapability(model, 'json_mode')
    ? undefined
    : refuse('json_mode_not_supported', {
        message: `The model '${model.id}' cannot enforce a JSON response format.`,
        param: 'response_format',
      });
}
