import { endpoints } from '@gateway/dashboard-contract';
import type { DashboardApiPorts } from '../ports';
import { createContentLogHandlers } from './content-log-handlers';

/** Runs the handler of an endpoint over a content log with these methods. */
function run(endpoint: unknown, contentLog: object, body: object = {}): Promise<unknown> {
  const handlers = createContentLogHandlers({ contentLog } as unknown as DashboardApiPorts);
  const found = handlers.find((implementation) => implementation.endpoint === endpoint);
  const params = { organization_id: 'org-1', generation_id: 'gen-1' };
  return found?.handler({ params, body } as never) ?? Promise.reject(new Error('no such handler'));
}

const { contentLog } = endpoints;

it('is refused with the name of the missing setting where the router has no key', async () => {
  const refused = run(
    contentLog.set,
    { setContentLog: async () => ({ state: undefined }) },
    { enabled: true, retention_days: 7 },
  );
  await expect(refused).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('GATEWAY_SECRETS_KEY of inference-router'),
  });
});

it.each([
  ['read', contentLog.read, { readContent: async () => ({ content: undefined }) }],
  ['erase', contentLog.erase, { eraseContent: async () => ({ erased: false }) }],
])('returns not_found where nothing is stored: %s', async (_, endpoint, methods) => {
  await expect(run(endpoint, methods)).rejects.toMatchObject({ code: 'not_found' });
});

it('erases nothing unless the body says so', async () => {
  const setContentLog = jest.fn(async (_request: object) => ({ state: undefined }));
  await run(contentLog.set, { setContentLog }, { enabled: false, retention_days: 7 }).catch(() => undefined);
  expect(setContentLog.mock.calls[0]?.[0]).toMatchObject({ enabled: false, erase: false });
});
