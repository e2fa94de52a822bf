import type { WireFormat } from '../../wire-format';
import { renderError, typeOf } from './errors';
import { handles, readRequest } from './read-request';
import { renderCompletion, renderStream } from './render';

/** Amazon Bedrock's Converse and ConverseStream. Signatures are not verified: the key is the ID of the access key. */
export const converse: WireFormat = {
  handles,
  keyOf: ({ authorization }) =>
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\//.exec(authorization ?? '')?.[1] ??
    /^Bearer (.+)$/i.exec(authorization ?? '')?.[1],
  readRequest,
  headers: (requestId, error) => ({
    'x-amzn-requestid': requestId,
    ...(error === undefined ? {} : { 'x-amzn-errortype': typeOf(error) }),
  }),
  renderError,
  renderCompletion,
  renderStream,
};
