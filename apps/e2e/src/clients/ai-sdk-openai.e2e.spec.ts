import { aiSdkReactions } from '../testing/ai-sdk';
import { startNodeClient } from '../testing/client-process';
import { describeClient } from '../testing/client-suite';

describeClient({
  name: 'the Vercel AI SDK with @ai-sdk/openai',
  start: () => startNodeClient('ai-sdk.mjs', { provider: 'openai' }),
  reactions: aiSdkReactions,
  // It drops an error in a chunk that has choices: only the finish reason shows the failure.
  brokenStream: { value: { text: expect.any(String), finishReason: 'other', rawFinishReason: 'error' } },
  ownTests(it, client) {
    it('gets route_not_found for the Responses API, which it uses without `.chat`', async () => {
      const { failure, calls } = await client.run('completeByDefault');
      expect(failure).toMatchObject({ status: 404, code: 'route_not_found' });
      expect(calls.map(({ path }) => path)).toEqual(['/v1/responses']);
    });
  },
});
