import type { WireFormat } from '../../wire-format';
import { renderError } from './errors';
import { handles, readRequest } from './read-request';
import { renderCompletion, renderStream } from './render';

/** Anthropic's Messages API, with the paths of Anthropic, Vertex AI and Amazon Bedrock. */
export const anthropic: WireFormat = {
  handles,
  keyOf: (headers) => {
    const key = headers['x-api-key'];
    return typeof key === 'string' ? key : /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  },
  readRequest,
  headers: (requestId) => ({ 'request-id': requestId }),
  renderError,
  renderCompletion,
  renderStream,
};
