import { renderChunks, renderCompletion } from '../../render';
import { readRequest } from '../../request';
import type { WireFormat, WireRequest } from '../../wire-format';
import { checkVendorRules, type Vendor } from './vendor-rules';

const DONE = '[DONE]';

/** `/v1` is a server without rules of its own. Azure has OpenAI's, and in its dated API the deployment in the path. */
const PATH = /^(?:\/v1)?\/(?:(openai|mistral|groq)\/)?v1\/chat\/completions$/;
const DEPLOYMENT_PATH = /^\/(openai)\/deployments\/[^/]+\/chat\/completions$/;

function read({ path, body, faultHeader }: WireRequest) {
  const vendor = (PATH.exec(path) ?? DEPLOYMENT_PATH.exec(path))?.[1] as Vendor | undefined;
  if (vendor !== undefined) checkVendorRules(vendor, body);
  return readRequest(body, faultHeader);
}

/** OpenAI's chat completions. */
export const openai: WireFormat = {
  handles: (path) => PATH.test(path) || DEPLOYMENT_PATH.test(path),
  keyOf: ({ authorization }) => /^Bearer (.+)$/i.exec(String(authorization ?? ''))?.[1],
  readRequest: read,
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
