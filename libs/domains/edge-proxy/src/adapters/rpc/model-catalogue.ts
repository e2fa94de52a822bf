import { keepOpen } from '@gateway/base';
import type {
  InferenceRouterDefinition,
  Model,
  WatchCatalogueResponse,
} from '@gateway/contracts/inference-router';
import type { RpcClient } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { ListedModel } from '@gateway/public-api';
import { limits, type ModelCatalogue } from '../../core';

export interface ModelCataloguePorts {
  readonly inferenceRouter: RpcClient<typeof InferenceRouterDefinition>;
  readonly log: Logger;
}

export function watchModelCatalogue({
  inferenceRouter,
  log,
}: ModelCataloguePorts): ModelCatalogue<ListedModel> {
  const stopping = new AbortController();
  let models = new Map<string, ListedModel>();
  let ready = false;
  let announceReady = nothing;
  let watching: Promise<void> | undefined;

  function take({ version, models: received }: WatchCatalogueResponse): void {
    const callable = received.flatMap(readModel);
    if (callable.length < received.length) {
      log.warn({ version }, 'models without prices or token counting are left out of the model catalogue');
    }
    models = new Map(callable.map((model) => [model.id, model]));
    ready = true;
    announceReady();
  }

  async function watch(opened: () => void): Promise<void> {
    for await (const catalogue of inferenceRouter.watchCatalogue({}, { signal: stopping.signal })) {
      opened();
      take(catalogue);
    }
  }

  function start(timeoutMs: number): Promise<void> {
    watching ??= keepOpen(watch, {
      backoff: limits.catalogue.reconnect,
      signal: stopping.signal,
      onFailure: (error) =>
        log.warn({ err: error }, 'the watch on the model catalogue broke; opening it again'),
    });
    if (ready) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      announceReady = () => {
        clearTimeout(timer);
        announceReady = nothing;
        resolve();
      };
    });
  }

  return {
    current: () => (ready ? models : undefined),
    all: () => models.values(),
    isReady: () => ready,
    start,
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
}

/** A model without prices or a way to count its tokens cannot be paid for, so it cannot be called. */
function readModel(model: Model): ListedModel[] {
  const { prices, tokenCounting } = model;
  if (!prices || !tokenCounting) return [];
  return [{ ...model, prices, tokenCounting, createdUnixS: Number(model.createdUnixS) }];
}

function nothing(): void {}
