import {
  InferenceRouterDefinition,
  Model,
  WatchCatalogueResponse,
} from '@gateway/contracts/inference-router';
import { bindService, createClient, createInProcessTransport } from '@gateway/rpc';
import { createSilentLogger } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { watchModelCatalogue } from './model-catalogue';

const log = createSilentLogger();

/** As a router of its own sends it: versions are each router's own count of what it has loaded. */
const catalogue = (version: bigint, ...ids: string[]): WatchCatalogueResponse =>
  WatchCatalogueResponse.fromPartial({
    version,
    models: ids.map((id) => Model.fromPartial({ id, prices: {}, tokenCounting: {} })),
  });

/** Routers that an edge watches one after the other: each sends what it has, and is gone when it is told. */
function routers(...sent: readonly WatchCatalogueResponse[][]) {
  const gone: (() => void)[] = [];
  let watches = 0;
  const watchCatalogue = async function* (
    _request: unknown,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<WatchCatalogueResponse> {
    const own = sent[watches++] ?? [];
    const lost = new Promise<void>((resolve) => {
      gone.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
    yield* own;
    await lost;
    throw new Error('this router is gone');
  };
  const handlers = { watchCatalogue } as unknown as Parameters<
    typeof bindService<typeof InferenceRouterDefinition>
  >[1];
  const transport = createInProcessTransport([bindService(InferenceRouterDefinition, handlers)], { log });
  return {
    inferenceRouter: createClient(InferenceRouterDefinition, transport),
    loseOne: () => gone.shift()?.(),
  };
}

describe('the model catalogue of an edge, while a change is rolled out to its routers', () => {
  let models: ReturnType<typeof watchModelCatalogue>;
  afterEach(() => models.stop());
  const known = () => [...(models.current()?.keys() ?? [])];
  const comesToKnow = (...ids: string[]) =>
    eventually(`it knows ${ids.join(', ')}`, async () => (known().join() === ids.join() ? true : undefined));

  it('is what the router that it watches sent last, and the next router’s when that one is gone', async () => {
    const { inferenceRouter, loseOne } = routers(
      [catalogue(6n, 'old'), catalogue(7n, 'old', 'new')],
      // One that has not read the new file yet, and was started later.
      [catalogue(1n, 'old'), catalogue(2n, 'old', 'new')],
    );
    models = watchModelCatalogue({ inferenceRouter, log });
    await models.start(5_000);
    await comesToKnow('old', 'new');
    loseOne();
    await comesToKnow('old', 'new');
  });

  it('follows a router that is behind rather than hold on to one that is gone, and keeps it while there is none', async () => {
    const { inferenceRouter, loseOne } = routers([catalogue(7n, 'old', 'new')], [catalogue(1n, 'old')]);
    models = watchModelCatalogue({ inferenceRouter, log });
    await models.start(5_000);
    await comesToKnow('old', 'new');
    loseOne();
    await comesToKnow('old');
    loseOne();
    expect(known()).toEqual(['old']);
    expect(models.isReady()).toBe(true);
  });
});
