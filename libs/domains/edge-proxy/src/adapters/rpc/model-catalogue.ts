import { maintainConnection } from '@gateway/base';
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

export function watchModelCatalogue({ inferenceRouter, log }: ModelCataloguePorts): ModelCatalogue {
  const stopping = new AbortController();
  let models = new Map<string, ListedModel>();
  let ready = false;
  let notifyReady = noop;
  let watching: Promise<void> | undefined;

  function apply({ version, models: received }: WatchCatalogueResponse): void {
    const callable = received.flatMap(readModel);
    if (callable.length < received.length) {
      log.warn({ version }, 'ignored models without prices or token counting');
    }
    models = new Map(callable.map((model) => [model.id, model]));
    ready = true;
    notifyReady();
  }

  async function watch(opened: () => void): Promise<void> {
    for await (const catalogue of inferenceRouter.watchCatalogue({}, { signal: stopping.signal })) {
      opened();
      apply(catalogue);
    }
  }

  function start(timeoutMs: number): Promise<void> {
    watching ??= maintainConnection(watch, {
      backoff: limits.catalogue.reconnect,
      signal: stopping.signal,
      onFailure: (error) => log.warn({ err: error }, 'lost the watch on the model catalogue; reopening it'),
    });
    if (ready) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      notifyReady = () => {
        clearTimeout(timer);
        notifyReady = noop;
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

/** A model without prices or token counting cannot be billed, so it cannot be called. */
function readModel(model: Model): ListedModel[] {
  const { prices, tokenCounting } = model;
  if (!prices || !tokenCounting) return [];
  return [{ ...model, prices, tokenCounting, createdUnixS: Number(model.createdUnixS) }];
}

function noop(): void {}
