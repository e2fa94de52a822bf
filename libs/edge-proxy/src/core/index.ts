export * from './access/check-key-grant';
export * from './chat-completion/types';
export { MinuteCounts } from './floods/minute-counts';
export { RecentNames } from './floods/recent-names';
export { readTraceContext } from './trace-context';
export { validateChatRequest, type ChatValidation } from './chat-completion/validate-chat-request';
export { chatFields, type Disposition, type Field } from './chat-completion/schema/fields';
export { chatRequestJsonSchema } from './chat-completion/schema/json-schema';
export { canonicalBodySha256Input } from './json/canonical-json';
export * from './endpoints';
export { openApiDocument } from './openapi/document';
export type { AnswerExamples, ErrorExample, RequestExample } from './openapi/examples';
export { apiReference, htmlOf, markdownOf, prettyJson } from './reference';
export { isJsonObject, type JsonObject, type JsonValue } from './json/json-value';
export { MAX_JSON_DEPTH, parseJsonBody } from './json/parse-json-body';
export {
  MAX_USAGE_DAYS,
  parseUsageQuery,
  type UsageDimension,
  type UsageQuery,
} from './usage/parse-usage-query';
export { creditsView, type Credits } from './views/credits';
export { generationView, type SettledGeneration } from './views/generation';
export { modelListView, type ListedModel } from './views/model-list';
export { usageView, type UsageGroup, type UsageSums } from './views/usage';
