import type { Clock } from '@gateway/base';
import type { Catalogue, Model } from '../core/catalogue/model-catalogue';
import { nextPriceChange, withPricesAt } from '../core/catalogue/price-changes';
import type { CatalogueSource, Timer, Timers } from '../core/ports';
import type { SwitchWatch } from './switch-watch';

/** The longest wait for a price change, since a timer is limited to 24 days. */
const MAX_WAIT_MS = 86_400_000;

export interface EffectiveCataloguePorts {
  readonly disabledModels: Pick<SwitchWatch, 'of' | 'onChange'>;
  readonly clock: Clock;
  readonly timers: Timers;
}

/**
 * The catalogue of a source as it applies now: with the prices of this moment, and with the models that operators have
 * switched off disabled, too.
 */
export function createEffectiveCatalogue(
  source: CatalogueSource,
  { disabledModels, clock, timers }: EffectiveCataloguePorts,
): CatalogueSource {
  const listeners = new Set<() => void>();
  let loaded: Catalogue | undefined;
  let current: Catalogue | undefined;
  let priceTimer: Timer | undefined;
  let stopped = false;

  /** Versions ascend with each change of the source, of a switch or of a price. */
  function refresh(): Catalogue {
    loaded = source.current();
    const now = clock.now();
    const version = Math.max(loaded.version, (current?.version ?? 0) + 1);
    const models = new Map(
      [...loaded.models.values()].map((model) => [model.id, withSwitch(withPricesAt(model, now))]),
    );
    priceTimer?.cancel();
    const next = nextPriceChange(loaded.models.values(), now);
    if (next !== undefined && !stopped) {
      priceTimer = timers.after(Math.min(next - now, MAX_WAIT_MS), changed);
    }
    return (current = { ...loaded, version, models });
  }

  function withSwitch(model: Model): Model {
    return model.disabled || !disabledModels.of(model.id) ? model : { ...model, disabled: true };
  }

  function changed(): void {
    refresh();
    for (const listener of [...listeners]) listener();
  }

  return {
    async start() {
      await source.start();
      source.onChange(changed);
      disabledModels.onChange(changed);
    },
    stop() {
      stopped = true;
      priceTimer?.cancel();
      return source.stop();
    },
    current: () => (current && loaded === source.current() ? current : refresh()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status: () => source.status(),
  };
}
