import { worstCaseCost } from '@gateway/base';
import { isRefusal, type Refusal } from '@gateway/errors';
import type { JsonObject } from '../json/json-value';
import { estimateInputTokens } from './estimate/estimate-input-tokens';
import { forwardedBody } from './forwarded-body';
import { checkCompletions } from './rules/completions';
import { readFields } from './rules/field-values';
import { checkImagesInline, checkVision, findImages } from './rules/images';
import { checkJsonModeSupported, checkJsonModeWithoutStream } from './rules/json-mode';
import { checkModelAllowed, modelNotFound } from './rules/model-access';
import { checkFieldSupport, checkReasoningEffort, checkTools } from './rules/model-support';
import { checkModelOutputLimit, checkOutputCap, fitOutput } from './rules/output-length';
import { checkMessagesPresent, checkModelPresent } from './rules/presence';
import { checkParametersKnown } from './rules/unknown-parameter';
import type { CheckedFields } from './schema/checked-fields';
import type { CallerPolicy, ModelView, TokenCounter, ValidatedChatRequest } from './types';

export interface ChatValidation {
  readonly policy: CallerPolicy;
  readonly findModel: (id: string) => ModelView | undefined;
  readonly tokenCounter: TokenCounter;
}

/**
 * Judges a chat completion. One error is answered, always the same one for the
 * same faulty request: what depends on the body alone is checked first, then
 * what depends on the caller, then on the model, then the estimate.
 *
 * Answers at once unless the token counter needs time.
 */
export function validateChatRequest(
  body: JsonObject,
  { policy, findModel, tokenCounter }: ChatValidation,
): ValidatedChatRequest | Refusal | Promise<ValidatedChatRequest | Refusal> {
  const named = Object.hasOwn(body, 'model') ? body['model'] : undefined;
  const found = typeof named === 'string' ? findModel(named) : undefined;
  const model = found?.disabled === false ? found : undefined;

  const absent = checkModelPresent(body) ?? checkMessagesPresent(body) ?? checkParametersKnown(body, model);
  if (absent) return absent;
  const read = readFields(body, model);
  if (isRefusal(read)) return read;
  const { fields, copy } = read;
  const images = findImages(fields.messages);

  const ofBodyOrCaller =
    checkImagesInline(images) ??
    checkJsonModeWithoutStream(fields) ??
    checkCompletions(fields, policy) ??
    checkOutputCap(fields, policy);
  if (ofBodyOrCaller) return ofBodyOrCaller;
  if (!model) return modelNotFound(fields.model);

  const ofModel =
    checkModelAllowed(model, policy) ??
    checkTools(fields, model) ??
    checkVision(images, model) ??
    checkJsonModeSupported(fields, model) ??
    checkReasoningEffort(fields, model) ??
    checkFieldSupport(copy, model) ??
    checkModelOutputLimit(fields, model);
  if (ofModel) return ofModel;

  const forwarded = forwardedBody(fields, copy, model);
  const finish = (inputTokens: number): ValidatedChatRequest | Refusal => {
    const outputTokens = fitOutput(fields, policy, model, inputTokens);
    if (typeof outputTokens !== 'number') return outputTokens;
    return validated(fields, forwarded, model, inputTokens, outputTokens);
  };
  const estimate = estimateInputTokens(forwarded, images, model, tokenCounter);
  return typeof estimate === 'number' ? finish(estimate) : estimate.then(finish);
}

function validated(
  fields: CheckedFields,
  body: JsonObject,
  model: ModelView,
  inputTokens: number,
  maxOutputTokens: number,
): ValidatedChatRequest {
  const n = fields.n ?? 1;
  const stream = fields.stream === true;
  const externalUser = fields.safety_identifier ?? fields.user;
  return {
    model,
    stream,
    includeUsage: stream && fields.stream_options?.include_usage === true,
    n,
    bodyJson: Buffer.from(JSON.stringify(body)),
    maxOutputTokens,
    estimatedInputTokens: inputTokens,
    heldCost: worstCaseCost(heldInputTokens(inputTokens), maxOutputTokens * n, model.prices),
    ...(externalUser === undefined ? {} : { externalUser }),
  };
}

/** A tenth on top of the estimate, since tokenizers differ. */
function heldInputTokens(inputTokens: number): number {
  return Math.ceil((inputTokens * 11) / 10);
}
