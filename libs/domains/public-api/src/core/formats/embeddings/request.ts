import { byName, type RequestFormat } from '../request-format';
import { embeddingsFields } from './fields';

/** OpenAI's embeddings. */
export const embeddingsRequest: RequestFormat = {
  fields: embeddingsFields,
  fieldsByName: byName(embeddingsFields),
  conversation: 'input',
  hasConversation: ({ input }) =>
    typeof input === 'string' ? input !== '' : Array.isArray(input) && input.length > 0,
  params: new Map([['messages', 'input']]),
};
