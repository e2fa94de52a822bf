import type { ApiType } from '@gateway/base';

/** The names of APIs, by `api_type`. */
export const apiNames: Readonly<Record<ApiType, string>> = {
  completions: 'Chat completions',
  messages: 'Messages',
  responses: 'Responses',
  embeddings: 'Embeddings',
};
