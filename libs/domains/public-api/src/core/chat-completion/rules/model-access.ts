import { mayUseTarget, type TargetRules } from '@gateway/base';
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

/** model_not_allowed: a model that the key may not use, or whose providers and regions the organization excludes. */
export function checkModelAllowed(model: ModelView, policy: CallerPolicy): Refusal | undefined {
  if (!isListed(model.id, policy.allowedModels)) {
    return refuse('model_not_allowed', {
      message: `This API key may not use the model '${model.id}'.`,
      param: 'model',
    });
  }
  if (!hasAllowedTarget(model, policy.targetRules)) {
    return refuse('model_not_allowed', {
      message: `The organization does not allow any provider and region of the model '${model.id}'.`,
      param: 'model',
    });
  }
  return undefined;
}

/** The part of the policy that decides about models. */
export type ModelPolicy = Pick<CallerPolicy, 'allowedModels' | 'targetRules'>;

export function mayUseModel(
  model: Pick<ModelView, 'id' | 'targetPlaces'>,
  { allowedModels, targetRules }: ModelPolicy,
): boolean {
  return isListed(model.id, allowedModels) && hasAllowedTarget(model, targetRules);
}

/** An empty list allows every model. */
function isListed(id: string, allowedModels: readonly string[]): boolean {
  return allowedModels.length === 0 || allowedModels.includes(id);
}

function hasAllowedTarget(
  { targetPlaces }: Pick<ModelView, 'targetPlaces'>,
  rules: TargetRules | undefined,
): boolean {
  return rules === undefined || targetPlaces.some((place) => mayUseTarget(rules, place));
}
