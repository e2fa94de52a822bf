import { refuse, type Refusal } from '@gateway/errors';
import type { CallerPolicy, ModelView } from '../types';

/** Maximum characters of a model id in an error message. */
const MAX_NAMED_CHARACTERS = 256;

/** model_not_found: the same error for unknown and disabled models. */
export function modelNotFound(id: string): Refusal {
  return refuse('model_not_found', {
    message: `The model '${id.slice(0, MAX_NAMED_CHARACTERS)}' does not exist.`,
    param: 'model',
  });
}

/** model_not_allowed: a model that the key may not use. */
export function checkModelAllowed(model: ModelView, policy: CallerPolicy): Refusal | undefined {
  return mayUseModel(model.id, policy.allowedModels)
    ? undefined
    : refuse('model_not_allowed', {
        message: `This API key may not use the model '${model.id}'.`,
        param: 'model',
      });
}

/** An empty list allows every model. */
export function mayUseModel(id: string, allowedModels: readonly string[]): boolean {
  return allowedModels.length === 0 || allowedModels.includes(id);
}
