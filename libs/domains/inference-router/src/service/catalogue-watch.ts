import type { WatchCatalogueResponse } from '@gateway/contracts/inference-router';
import type { CatalogueSource } from '../core/ports';
import { toWatchCatalogueResponse } from './messages';

/**
 * Sends the catalogue, and sends it again after each change until the signal aborts.
 * A slow reader skips intermediate versions, but always gets the last one.
 */
export async function* watchCatalogue(
  source: CatalogueSource,
  signal: AbortSignal,
): AsyncGenerator<WatchCatalogueResponse> {
  let wake: () => void = () => undefined;
  const onEvent = () => wake();
  const stopListening = source.onChange(onEvent);
  signal.addEventListener('abort', onEvent);
  try {
    let sent: number | undefined;
    while (!signal.aborted) {
      const catalogue = source.current();
      if (catalogue.version !== sent) {
        sent = catalogue.version;
        yield toWatchCatalogueResponse(catalogue);
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    signal.removeEventListener('abort', onEvent);
    stopListening();
  }
}
