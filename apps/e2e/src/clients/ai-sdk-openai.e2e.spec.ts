import { aiSdkReactions, refusesStreamedJson } from '../testing/ai-sdk';
import { startNodeClient } from '../testing/client-process';
import { describeClient } from '../testing/client-suite';

describeClient({
  name: 'the Vercel AI SDK with @ai-sdk/openai',
  start: () => startNodeClient('ai-sdk.mjs', { provider: 'openai' }),
  reactions: aiSdkReactions,
  // It drops an error that stands beside choices: only the finish reason tells.
  brokenStream: { value: { text: expect.any(String), finishReason: 'other', rawFinishReason: 'error' } },
  more(it, work) {
    refusesStreamedJson(it, work);

    it('is told that there is no responses API, which it uses without `.chat`', async () => {
      const { failure, calls } = await work.run('completeByDefault');
      expect(failure).toMatchObject({ status: 404, code: 'route_not_found' });
      expect(calls.map(({ path }) => path)).toEqual(['/v1/responses']);
    });
  },
});
