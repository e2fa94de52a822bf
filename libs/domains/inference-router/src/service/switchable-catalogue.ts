import type { Catalogue, Model } from '../core/catalogue/model-catalogue';
import type { CatalogueSource } from '../core/ports';
import type { SwitchWatch } from './switch-watch';

/** The catalogue of a file, in which the models that operators have switched off are disabled, too. */
export function createSwitchableCatalogue(
  file: CatalogueSource,
  disabledModels: Pick<SwitchWatch, 'of' | 'onChange'>,
): CatalogueSource {
  const listeners = new Set<() => void>();
  let source: Catalogue | undefined;
  let current: Catalogue | undefined;

  /** Versions ascend with each change of the file or of a switch. */
  function refresh(): Catalogue {
    source = file.current();
    const version = Math.max(source.version, (current?.version ?? 0) + 1);
    const models = new Map([...source.models.values()].map((model) => [model.id, withSwitch(model)]));
    return (current = { ...source, version, models });
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
      await file.start();
      file.onChange(changed);
      disabledModels.onChange(changed);
    },
    stop: () => file.stop(),
    current: () => (current && source === file.current() ? current : refresh()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status: () => file.status(),
  };
}
