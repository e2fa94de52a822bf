import { startGateway } from '@gateway/test-support';
import { ask } from './testing/ask';

jest.setTimeout(120_000);

describe('the gateway as `npm start` runs it', () => {
  it.each(['0', '2'])('answers and ends cleanly, with %s workers', async (workers) => {
    const gateway = await startGateway({
      script: 'tools/commands/start.mjs',
      env: { GATEWAY_WORKERS: workers },
    });
    const { kind } = await ask(gateway, { prompt: 'Hello', stream: false });
    await gateway.stop();
    expect(kind).toBe('finished');
  });
});
