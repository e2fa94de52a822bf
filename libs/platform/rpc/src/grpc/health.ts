import { Condition, type CancelSignal } from '@gateway/base';
import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthDefinition,
  type HealthCheckResponse,
} from '@gateway/contracts/health';
import { GatewayError } from '@gateway/errors';
import { bindService, type BoundService } from '../definition';

/** A service name for liveness probes: its status is SERVING whenever the server responds, even if it is not ready. */
export const LIVENESS = 'gateway.Liveness';

/** How often a watch checks whether the services are ready. */
const READINESS_INTERVAL_MS = 1_000;

export interface Health {
  readonly service: BoundService;
  setServing(serving: boolean): void;
  /** Reports not serving and ends all watches. */
  stop(): void;
}

/**
 * The health of a server and each of its services: SERVING while it runs and is
 * ready. Watches receive changes within a second.
 */
export function createHealth(
  serviceNames: readonly string[],
  isReady: () => boolean | Promise<boolean> = () => true,
): Health {
  const known = new Set(['', ...serviceNames]);
  const changes = new Condition();
  let serving = false;
  let stopped = false;

  const statusOf = async (service: string): Promise<ServingStatus> => {
    if (service === LIVENESS) return ServingStatus.SERVING;
    if (!known.has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return serving && (await isReady()) ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  };

  async function* watch(service: string, signal: CancelSignal): AsyncGenerator<HealthCheckResponse> {
    let sent: ServingStatus | undefined;
    while (!signal.aborted) {
      const status = await statusOf(service);
      if (status !== sent) yield { status };
      sent = status;
      if (stopped) return;
      await changes.wait(signal, READINESS_INTERVAL_MS);
    }
  }

  function set(next: boolean): void {
    serving = next;
    changes.notifyAll();
  }

  return {
    service: bindService(HealthDefinition, {
      check: async ({ service }) => {
        const status = await statusOf(service);
        // The protocol requires NOT_FOUND, the gRPC status of this error code.
        if (status === ServingStatus.SERVICE_UNKNOWN) throw new GatewayError('route_not_found');
        return { status };
      },
      watch: ({ service }, { signal }) => watch(service, signal),
    }),
    setServing: set,
    stop: () => {
      stopped = true;
      set(false);
    },
  };
}
