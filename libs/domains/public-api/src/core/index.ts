export * from './access/check-key-grant';
export * from './chat-completion/types';
export {
  checkChatBody,
  type ChatBodyRules,
  type CheckedChatBody,
  type RefusedChatBody,
} from './chat-completion/check-chat-body';
export {
  countChatRequest,
  validateChatRequest,
  type ChatValidation,
} from './chat-completion/validate-chat-request';
export { countDocuments } from './chat-completion/estimate/count-documents';
export { estimateInputTokens } from './chat-completion/estimate/estimate-input-tokens';
export { heldCostOf, holdingAllInput } from './chat-completion/held-cost';
export { affordableOutputTokens, lowerToMaxCost } from './chat-completion/lower-to-max-cost';
export { chatFields } from './chat-completion/schema/fields';
export { type Disposition, type Field } from './chat-completion/schema/field';
export { requestJsonSchema } from './chat-completion/schema/json-schema';
export * from './endpoints';
export { bodyExceedsMemory, bodyTooLarge, bodyTooSlow, bodyUndecodable } from './errors/bodies';
export {
  IDEMPOTENCY_KEY_PATTERN,
  LAST_EVENT_ID_PATTERN,
  idempotencyKeyInFlight,
  idempotencyKeyReused,
  invalidIdempotencyKey,
  invalidLastEventId,
  streamNotResumable,
} from './errors/idempotency';
export { chatCompletionError } from './errors/no-capacity';
export {
  addressAbuseLimited,
  type ExceededLimit,
  keyAbuseLimited,
  keySuspicionLimited,
  limitExceeded,
} from './errors/limits';
export {
  budgetExceeded,
  type ExceededBudget,
  insufficientCredits,
  maxCostExceeded,
  type MissingCredits,
  unknownRun,
} from './errors/money';
export { generationIdMissing, generationNotFound, routeNotFound } from './errors/not-found';
export { isEmbeddingModel } from './chat-completion/rules/read-body';
export {
  apiTypeOfFormat,
  type ChatFormatName,
  type FormatName,
  formatNames,
  publicParam,
} from './formats/request-format';
export { requestFormats } from './formats/request-formats';
export { type RequestedResponse } from './formats/requested-response';
export { type ResponseContext, type StreamRenderer } from './formats/response-format';
export {
  openResponseStream,
  replayEvents,
  responseFormats,
  routerEventAfter,
} from './formats/response-formats';
export {
  addRateLimitHeaders,
  addRetryHeaders,
  type ResponseHeaders,
  type RateLimitState,
} from './headers/response-headers';
export { canonicalBodySha256Input } from './json/canonical-json';
export { isJsonObject, type JsonObject, type JsonValue } from './json/json-value';
export { measureJson, type JsonMeasure } from './json/measure-json';
export { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseJsonBody } from './json/parse-json-body';
export { defaultPublicLimits } from './limits';
export {
  MAX_COST_HEADER,
  parseSpendLimits,
  type Run,
  RUN_BUDGET_HEADER,
  RUN_ID_HEADER,
  RUN_ID_PATTERN,
  SPEND_LIMIT_HEADERS,
  type SpendLimits,
  USD_PATTERN,
} from './spend-limits/parse-spend-limits';
export {
  isTagDimension,
  MAX_MODEL_ID_LENGTH,
  MAX_USAGE_DAYS,
  parseUsageQuery,
  PROJECT_ID_PATTERN,
  TAG_DIMENSION_PATTERN,
  type TagDimension,
  usageDimensions,
  type UsageDimension,
  type UsageQuery,
} from './usage/parse-usage-query';
export { creditsView, type Credits } from './views/credits';
export { generationView, type SettledGeneration } from './views/generation';
export { modelListView, type ListedModel } from './views/model-list';
export { usageView, type RunAccount, type UsageGroup, type UsageSums } from './views/usage';
