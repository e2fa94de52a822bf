import { startGateway } from '@gateway/test-support';
import { complete } from './testing/chat-completion';

jest.setTimeout(120_000);

describe('the gateway as started by `npm start`', () => {
  it('serves a request and stops cleanly', async () => {
    const gateway = await startGateway({ script: 'tools/commands/start.mjs' });
    const { kind } = await complete(gateway, { prompt: 'Hello', stream: false });
    await gateway.stop();
    expect(kind).toBe('finished');
  });
});
