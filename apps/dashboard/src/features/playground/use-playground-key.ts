import { useCallback, useRef } from 'react';
import { api } from '../../api/client';

interface PlaygroundKey {
  readonly secret: string;
  readonly baseUrl: string;
  readonly expiresAtMs: number;
}

/** A key that ends this soon is not begun with. */
const MARGIN_MS = 30_000;

/** A key of the signed-in person for some minutes: made when it is first needed, and kept in this page's memory only. */
export function usePlaygroundKey(organizationId: string): () => Promise<PlaygroundKey> {
  const known = useRef<{ readonly organizationId: string; readonly key: PlaygroundKey }>(undefined);
  return useCallback(async () => {
    const { current } = known;
    if (current?.organizationId === organizationId && current.key.expiresAtMs - MARGIN_MS > Date.now()) {
      return current.key;
    }
    const made = await api.call('POST /api/organizations/{organization_id}/playground/key', {
      params: { organization_id: organizationId },
      body: {},
    });
    const key = { secret: made.secret, baseUrl: made.base_url, expiresAtMs: Date.parse(made.expires_at) };
    known.current = { organizationId, key };
    return key;
  }, [organizationId]);
}
