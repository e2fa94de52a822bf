import { wellFormedJson, type CacheWriteLifetime, type JobCaller } from '@gateway/base';
import { isRefusal, type Refusal } from '@gateway/errors';
import { checkEmbeddings } from '../formats/embeddings/check-embeddings';
import { countEmbeddings } from '../formats/embeddings/count-embeddings';
import type {
  ChatFormatName,
  ChatRequestFormat,
  ChatTranslation,
  FormatName,
  RequestFormat,
} from '../formats/request-format';
import { chatRequestFormats } from '../formats/request-formats';
import type { JsonObject } from '../json/json-value';
import { pdfBytes } from './documents/read-pdf-data';
import { countDocuments } from './estimate/count-documents';
import { estimateInputTokens, uncountedInput, type InlineParts } from './estimate/estimate-input-tokens';
import { longestCachePoint, type CacheableFields } from './cache-points';
import { forwardedBody } from './forwarded-body';
import { isOutputVisible } from './visible-output';
import { checkCompletions } from './rules/completions';
import { checkBetweenFields } from './rules/field-values';
import { checkDocuments, findDocuments } from './rules/documents';
import { checkImagesInline, checkVision, findImages } from './rules/images';
import { checkJsonModeSupported, checkJsonStreaming, isJsonMode } from './rules/json-mode';
import { checkModelAllowed, modelNotFound } from './rules/model-access';
import { checkFieldSupport, checkReasoningEffort, checkTools } from './rules/model-support';
import { checkOutputCap, fitOutput } from './rules/output-length';
import { isChatModel, namedModel, readBody } from './rules/read-body';
import { toolLoopSigner } from './tool-loop-signer';
import type { CheckedFields, ForwardedFields } from './schema/checked-fields';
import type {
  CallerPolicy,
  ModelView,
  PageCounter,
  TokenCounter,
  UncountedChatRequest,
  ValidatedChatRequest,
} from './types';
import { usageTagsOf } from './usage-tags';
import { validated } from './validated-request';

export interface ChatRules {
  readonly policy: CallerPolicy;
  readonly findModel: (id: string) => ModelView | undefined;
  /** Absent: a chat completion. */
  readonly format?: FormatName | undefined;
  /** Whether hosted tools are removed instead of refused. */
  readonly dropsHostedTools?: boolean | undefined;
}

export interface ChatValidation extends ChatRules {
  readonly tokenCounter: TokenCounter;
  /** Absent: documents are refused. */
  readonly pageCounter?: PageCounter;
  /** The caller of the counts, see TokenCounter. */
  readonly caller?: JobCaller;
}

/**
 * Validates a chat completion, or a request for embeddings. Returns one error, always the same for the same
 * request: checks of the body come first, then those of the caller's policy, the
 * model, and the estimate.
 *
 * Synchronous unless the token counter is asynchronous, or the request has documents.
 */
export function validateChatRequest(
  body: JsonObject,
  validation: ChatValidation,
): ValidatedChatRequest | Refusal | Promise<ValidatedChatRequest | Refusal> {
  const uncounted = checkChatRequest(body, validation);
  return isRefusal(uncounted) ? uncounted : countChatRequest(uncounted, validation);
}

/**
 * All checks except the one that needs the token count.
 *
 * @param exactSeed - see readExactSeed.
 */
export function checkChatRequest(
  given: JsonObject,
  rules: ChatRules,
  exactSeed?: bigint,
): UncountedChatRequest | Refusal {
  const { policy, findModel, dropsHostedTools } = rules;
  if (rules.format === 'embeddings') return checkEmbeddings(given, rules);
  const format = chatRequestFormats[rules.format ?? 'chat'];
  const model = namedModel(given, findModel, isChatModel);
  const read = readBody(dropsHostedTools ? format.withoutHostedTools(given) : given, model, format);
  if (isRefusal(read)) return read;
  const translated = format.toChat(read, model);
  if (isRefusal(translated)) return translated;
  const tags = usageTagsOf(given, policy.usageTags);
  const checked = checkTranslated(translated, model, { policy, format, tags }, exactSeed);
  return isRefusal(checked) ? inFormat(checked, format) : checked;
}

interface TranslatedRules extends Pick<UncountedChatRequest, 'tags'> {
  readonly policy: CallerPolicy;
  readonly format: ChatRequestFormat;
}

/** The checks that are the same for every format. Their errors name fields of a chat completion. */
function checkTranslated(
  { chat: copy, partPaths, response }: ChatTranslation,
  model: ModelView | undefined,
  { policy, format, tags }: TranslatedRules,
  exactSeed: bigint | undefined,
): UncountedChatRequest | Refusal {
  // CheckedFields mirrors the shapes of the schema.
  const fields = copy as unknown as CheckedFields;
  const contradiction = checkBetweenFields(fields, exactSeed);
  if (contradiction) return contradiction;
  const images = findImages(fields.messages, partPaths);
  const documents = findDocuments(fields.messages, partPaths);

  const bodyOrPolicyRefusal =
    checkImagesInline(images, format) ??
    checkJsonStreaming(fields, policy) ??
    checkCompletions(fields, policy) ??
    checkOutputCap(fields, policy);
  if (bodyOrPolicyRefusal) return bodyOrPolicyRefusal;
  if (!model) return modelNotFound(fields.model);

  const modelRefusal =
    checkModelAllowed(model, policy) ??
    checkTools(fields, model) ??
    checkVision(images, model) ??
    checkDocuments(documents, model) ??
    checkJsonModeSupported(fields, model) ??
    checkReasoningEffort(fields, model) ??
    checkFieldSupport(copy, model);
  if (modelRefusal) return modelRefusal;

  const inline = {
    images,
    documents: documents.map(({ file, path }) => ({
      path: path + format.documentData,
      pdf: pdfBytes(file.file_data),
    })),
  };
  return uncounted(fields, forwardedBody(fields, copy, model), inline, model, { exactSeed, response, tags });
}

/** The cap of the output is `max_tokens` in every format: the public contract fixes it. */
function inFormat(refusal: Refusal, { params }: RequestFormat): Refusal {
  const param = params.get(refusal.param ?? '');
  return param === undefined || refusal.code === 'max_tokens_exceeds_cap' ? refusal : { ...refusal, param };
}

/** Counts the input and makes the last check, the context window. */
export function countChatRequest(
  uncounted: UncountedChatRequest,
  validation: ChatValidation,
): ValidatedChatRequest | Refusal | Promise<ValidatedChatRequest | Refusal> {
  const { findModel, tokenCounter, pageCounter, caller, format } = validation;
  const model = findModel(uncounted.modelId);
  if (!model) throw new Error('the model is missing from the catalogue that the request was checked against');
  if (format === 'embeddings') return countEmbeddings(uncounted, model, tokenCounter, caller);
  const counted = countDocuments(uncounted, model, pageCounter, caller);
  const finish = (request: UncountedChatRequest | Refusal) =>
    isRefusal(request) ? request : countText(request, model, { ...validation, format });
  return counted instanceof Promise ? counted.then(finish) : finish(counted);
}

function countText(
  request: UncountedChatRequest,
  model: ModelView,
  {
    policy,
    tokenCounter,
    caller,
    format = 'chat',
  }: ChatValidation & { readonly format?: ChatFormatName | undefined },
): ValidatedChatRequest | Refusal | Promise<ValidatedChatRequest | Refusal> {
  const finish = (inputTokens: number): ValidatedChatRequest | Refusal => {
    const outputTokens = fitOutput(request.output, policy, model, inputTokens);
    if (typeof outputTokens !== 'number') return inFormat(outputTokens, chatRequestFormats[format]);
    return validated(request, model, inputTokens, outputTokens);
  };
  const estimate = estimateInputTokens(request.input, model, tokenCounter, caller);
  return typeof estimate === 'number' ? finish(estimate) : estimate.then(finish);
}

function uncounted(
  fields: CheckedFields,
  forwarded: JsonObject & ForwardedFields,
  inline: InlineParts,
  model: ModelView,
  { exactSeed, response, tags }: Pick<UncountedChatRequest, 'exactSeed' | 'response' | 'tags'>,
): UncountedChatRequest {
  const { max_tokens, max_completion_tokens } = fields;
  const stream = fields.stream === true;
  const externalUser = fields.safety_identifier ?? fields.user;
  const signedBy = toolLoopSigner(fields.messages);
  const { prompt_cache_key: promptCacheKey } = forwarded;
  return {
    modelId: model.id,
    stream,
    includeUsage: stream && fields.stream_options?.include_usage === true,
    n: fields.n ?? 1,
    bodyJson: Buffer.from(
      wellFormedJson(JSON.stringify(exactSeed === undefined ? forwarded : withoutSeed(forwarded))),
    ),
    exactSeed,
    signedBy,
    ...(typeof promptCacheKey === 'string' ? { promptCacheKey } : {}),
    externalUser,
    tags,
    input: uncountedInput(forwarded, inline, model),
    isOutputVisible: isOutputVisible({ stream, n: fields.n ?? 1 }, forwarded, model),
    isJson: isJsonMode(fields),
    cacheWrites: cacheWritesOf(forwarded, model),
    output: { max_tokens, max_completion_tokens },
    response,
  };
}

/** Without cache points, a model may still write to its cache. */
function cacheWritesOf(forwarded: JsonObject, model: ModelView): CacheWriteLifetime {
  const explicit = longestCachePoint(forwarded as unknown as CacheableFields);
  return explicit === 'none' && model.writesCacheImplicitly ? '5m' : explicit;
}

function withoutSeed({ seed: _, ...rest }: JsonObject): JsonObject {
  return rest;
}
