import { aiSdkReactions } from '../testing/ai-sdk';
import { startNodeClient } from '../testing/client-process';
import { describeClient } from '../testing/client-suite';

describeClient({
  name: 'the Vercel AI SDK with @ai-sdk/openai-compatible',
  start: () => startNodeClient('ai-sdk.mjs', { provider: 'openai-compatible' }),
  reactions: aiSdkReactions,
  // It throws the content of the error envelope, not an Error.
  brokenStream: { failure: { class: undefined, code: 'upstream_error', type: 'api_error' } },
});
