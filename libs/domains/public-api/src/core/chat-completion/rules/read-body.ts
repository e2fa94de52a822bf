import type { Refusal } from '@gateway/errors';
import type { RequestFormat } from '../../formats/request-format';
import type { JsonObject } from '../../json/json-value';
import type { ModelView } from '../types';
import { readFields } from './field-values';
import { checkMessagesPresent, checkModelPresent } from './presence';
import { checkParametersKnown } from './unknown-parameter';

/**
 * The checks of a body alone, in the public order.
 *
 * @param model for its extra parameters.
 * @returns the validated copy.
 */
export function readBody(
  body: JsonObject,
  model: ModelView | undefined,
  format: RequestFormat,
): JsonObject | Refusal {
  return (
    checkModelPresent(body) ??
    checkMessagesPresent(body, format) ??
    checkParametersKnown(body, model, format) ??
    readFields(body, model, format)
  );
}

/** The enabled model that a body names, of the kind that the endpoint serves. Others are as unknown. */
export function namedModel(
  body: JsonObject,
  findModel: (id: string) => ModelView | undefined,
  isOfKind: (model: ModelView) => boolean,
): ModelView | undefined {
  const named = Object.hasOwn(body, 'model') ? body['model'] : undefined;
  const found = typeof named === 'string' ? findModel(named) : undefined;
  return found?.disabled === false && isOfKind(found) ? found : undefined;
}

/** Whether a model makes embeddings; others complete chats. */
export function isEmbeddingModel({ embeddingDimensions }: Pick<ModelView, 'embeddingDimensions'>): boolean {
  return embeddingDimensions !== undefined && embeddingDimensions.length > 0;
}

export function isChatModel(model: ModelView): boolean {
  return !isEmbeddingModel(model);
}
