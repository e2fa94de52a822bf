import type { WireFormat } from '../../wire-format';
import { ERROR_EVENT, renderError } from './errors';
import { readRequest } from './read-request';
import { METHOD } from './path';
import { renderCompletion, renderEvents } from './render';

/** Google's `generateContent` and `streamGenerateContent?alt=sse`, below any version and project. */
export const gemini: WireFormat = {
  handles: (path) => METHOD.test(path),
  keyOf: (headers) => {
    const key = headers['x-goog-api-key'];
    return typeof key === 'string' ? key : /^Bearer (.+)$/i.exec(String(headers['authorization'] ?? ''))?.[1];
  },
  readRequest,
  headers: () => ({ vary: 'Origin, X-Origin, Referer' }),
  renderError,
  renderCompletion,
  renderStream: (completion, _, usageFault) => ({
    events: renderEvents(completion, usageFault),
    openingEvents: 0,
    isContent: () => true,
    end: undefined,
    crlf: true,
    malformed: ['{"candidates":[{"content":{"parts":[{"text":"bro'],
    error: ERROR_EVENT,
  }),
};
