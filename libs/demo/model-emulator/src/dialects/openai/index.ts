import { renderChunks, renderCompletion } from '../../render';
import { readRequest } from '../../request';
import type { WireFormat } from '../../wire-format';

const DONE = '[DONE]';

/** OpenAI's chat completions. */
export const openai: WireFormat = {
  handles: (path) => path === '/v1/chat/completions',
  keyOf: ({ authorization }) => /^Bearer (.+)$/i.exec(String(authorization ?? ''))?.[1],
  readRequest: ({ body, faultHeader }) => readRequest(body, faultHeader),
  headers: (requestId) => ({ 'x-request-id': requestId, 'openai-version': '2020-10-01' }),
  renderError: (error) => error.body(),
  renderCompletion,
  renderStream: (completion, includeUsage, usageFault) => ({
    events: renderChunks(completion, includeUsage, usageFault),
    openingEvents: completion.choices.length,
    isContent: () => true,
    end: DONE,
    malformed: ['{"id":"chatcmpl-broken","choices":[{"index":0,"delta":{"content":"bro', DONE],
    error:
      '{"error":{"message":"The server had an error while processing your request (emulated fault).",' +
      '"type":"server_error","param":null,"code":null}}',
  }),
};
