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

/** A catalogue of one router; each router counts its own versions. */
const catalogue = (version: bigint, ...ids: string[]): WatchCatalogueResponse =>
  WatchCatalogueResponse.fromPartial({
    version,
    models: ids.map((id) => Model.fromPartial({ id, prices: {}, tokenCounting: {} })),
  });

/** Routers that an edge watches one after the other. Each sends its catalogues; `loseOne` terminates it. */
function routers(...sent: readonly WatchCatalogueResponse[][]) {
  const terminate: (() => void)[] = [];
  let watches = 0;
  const watchCatalogue = async function* (
    _request: unknown,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<WatchCatalogueResponse> {
    const own = sent[watches++] ?? [];
    const lost = new Promise<void>((resolve) => {
      terminate.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
    yield* own;
    await lost;
    throw new Error('this router has terminated');
  };
  const handlers = { watchCatalogue } as unknown as Parameters<
    typeof bindService<typeof InferenceRouterDefinition>
  >[1];
  const transport = createInProcessTransport([bindService(InferenceRouterDefinition, handlers)], { log });
  return {
    inferenceRouter: createClient(InferenceRouterDefinition, transport),
    loseOne: () => terminate.shift()?.(),
  };
}

describe('the model catalogue of an edge, during a rollout to its routers', () => {
  let models: ReturnType<typeof watchModelCatalogue>;
  afterEach(() => models.stop());
  const known = () => [...(models.current()?.keys() ?? [])];
  const untilKnown = (...ids: string[]) =>
    eventually(`it knows ${ids.join(', ')}`, async () => (known().join() === ids.join() ? true : undefined));

  it('is the last one of the watched router, and the next router’s when that one terminates', async () => {
    const { inferenceRouter, loseOne } = routers(
      [catalogue(6n, 'old'), catalogue(7n, 'old', 'new')],
      // A router that was started later and has not read the new file yet.
      [catalogue(1n, 'old'), catalogue(2n, 'old', 'new')],
    );
    models = watchModelCatalogue({ inferenceRouter, log });
    await models.start(5_000);
    await untilKnown('old', 'new');
    loseOne();
    await untilKnown('old', 'new');
  });

  it('follows an outdated router after another one terminated, and keeps the last catalogue without a router', async () => {
    const { inferenceRouter, loseOne } = routers([catalogue(7n, 'old', 'new')], [catalogue(1n, 'old')]);
    models = watchModelCatalogue({ inferenceRouter, log });
    await models.start(5_000);
    await untilKnown('old', 'new');
    loseOne();
    await untilKnown('old');
    loseOne();
    expect(known()).toEqual(['old']);
    expect(models.isReady()).toBe(true);
  });
});
