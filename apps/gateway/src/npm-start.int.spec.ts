import { startGateway } from '@gateway/test-support';
import { ask } from './testing/ask';

jest.setTimeout(120_000);

describe('the gateway as `npm start` runs it', () => {
  it('answers and ends cleanly', async () => {
    const gateway = await startGateway({ script: 'tools/commands/start.mjs' });
    const { kind } = await ask(gateway, { prompt: 'Hello', stream: false });
    await gateway.stop();
    expect(kind).toBe('finished');
  });
});
