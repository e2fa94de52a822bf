import type { CancelSignal } from '@gateway/base';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { GatewayError } from '@gateway/errors';
import { bindService, type BoundService } from '../bound-service';
import type { MessageCodec } from '../definition';

/** As in grpc.health.v1.HealthCheckResponse.ServingStatus. */
export enum ServingStatus {
  Serving = 1,
  NotServing = 2,
  /** Watch only: no such service. */
  ServiceUnknown = 3,
}

export interface HealthCheckRequest {
  /** A full service name; empty asks for the whole server. */
  readonly service: string;
}

export interface HealthCheckResponse {
  readonly status: ServingStatus;
}

const requestCodec: MessageCodec<HealthCheckRequest> = {
  encode: ({ service }, writer = new BinaryWriter()) => writer.uint32(10).string(service),
  decode: (bytes) => {
    let service = '';
    readFields(bytes, (field, reader) => {
      if (field !== 1) return false;
      service = reader.string();
      return true;
    });
    return { service };
  },
};

const responseCodec: MessageCodec<HealthCheckResponse> = {
  encode: ({ status }, writer = new BinaryWriter()) => writer.uint32(8).int32(status),
  decode: (bytes) => {
    let status = 0;
    readFields(bytes, (field, reader) => {
      if (field !== 1) return false;
      status = reader.int32();
      return true;
    });
    return { status };
  },
};

/** The standard health protocol, which orchestrators and proxies speak. */
export const HealthDefinition = {
  name: 'Health',
  fullName: 'grpc.health.v1.Health',
  methods: {
    check: {
      name: 'Check',
      requestType: requestCodec,
      requestStream: false,
      responseType: responseCodec,
      responseStream: false,
    },
    watch: {
      name: 'Watch',
      requestType: requestCodec,
      requestStream: false,
      responseType: responseCodec,
      responseStream: true,
    },
  },
} as const;

/** A name under which a server says that it answers at all, ready or not: for callers that wonder about its silence. */
export const LIVENESS = 'gateway.Liveness';

/** How often a watch asks whether the services are ready. */
const READINESS_INTERVAL_MS = 1_000;

export interface Health {
  readonly service: BoundService;
  setServing(serving: boolean): void;
  /** Reports not serving and ends all watches. */
  stop(): void;
}

/**
 * The health of a server and of each of its services, which is one and the
 * same: of those who run and are ready. Watchers hear of a change of readiness
 * within a second.
 */
export function createHealth(
  serviceNames: readonly string[],
  isReady: () => boolean | Promise<boolean> = () => true,
): Health {
  const known = new Set(['', ...serviceNames]);
  const watchers = new Set<() => void>();
  let serving = false;
  let stopped = false;

  const statusOf = async (service: string): Promise<ServingStatus> => {
    if (service === LIVENESS) return ServingStatus.Serving;
    if (!known.has(service)) return ServingStatus.ServiceUnknown;
    return serving && (await isReady()) ? ServingStatus.Serving : ServingStatus.NotServing;
  };

  async function* watch(service: string, signal: CancelSignal): AsyncGenerator<HealthCheckResponse> {
    let told: ServingStatus | undefined;
    while (!signal.aborted) {
      const status = await statusOf(service);
      if (status !== told) yield { status };
      told = status;
      if (stopped) return;
      await changed(signal);
    }
  }

  function changed(signal: CancelSignal): Promise<void> {
    if (signal.aborted || stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        watchers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, READINESS_INTERVAL_MS);
      watchers.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  function set(next: boolean): void {
    serving = next;
    for (const wake of [...watchers]) wake();
  }

  return {
    service: bindService(HealthDefinition, {
      check: async ({ service }) => {
        const status = await statusOf(service);
        // The protocol asks for NOT_FOUND here, which this code of the error table stands for.
        if (status === ServingStatus.ServiceUnknown) throw new GatewayError('route_not_found');
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

function readFields(bytes: Uint8Array, take: (field: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (!take(field, reader)) reader.skip(wireType);
  }
}
