import type { Implementation } from '@gateway/admin-calls';
import type { Clock } from '@gateway/base';
import { IncidentsDefinition } from '@gateway/contracts/auth';
import { isDatabaseUnavailable } from '@gateway/database';
import { handlersUnavailableAsNoCapacity } from '@gateway/errors';
import type { GatewayModule } from '@gateway/module';
import { bindService } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type {
  IncidentStore,
  MemoryIncidentStore,
  NotificationAdminStore,
  NotificationSender,
} from '../core/ports';
import { createDispatcher } from './dispatcher';
import { createNotificationEndpoints } from './endpoints';
import { createIncidentHandlers } from './incident-handlers';

export interface OperatorNotificationsPorts {
  readonly stored: IncidentStore;
  readonly memory: MemoryIncidentStore;
  readonly admin: NotificationAdminStore;
  readonly sender: NotificationSender;
  readonly sendsMail: boolean;
  readonly storesSecrets: boolean;
  readonly webhookUrlIssue: (url: string) => string | undefined;
  readonly newId: (prefix: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often incidents are decided and deliveries are sent. */
  readonly intervalMs: number;
  /** Releases the adapters. */
  close(): Promise<void>;
}

export interface OperatorNotificationsModule extends GatewayModule {
  /** Served by `auth`, the service of this module. */
  readonly endpoints: readonly Implementation[];
}

/** Receives incidents and notifies operators of them. */
export function createOperatorNotificationsModule(
  ports: OperatorNotificationsPorts,
): OperatorNotificationsModule {
  const log = ports.log.child({ module: 'operator-notifications' });
  const dispatcher = createDispatcher({ ...ports, log });
  return {
    name: 'operator-notifications',
    services: [
      bindService(
        IncidentsDefinition,
        handlersUnavailableAsNoCapacity(createIncidentHandlers(ports.stored), isDatabaseUnavailable),
      ),
    ],
    endpoints: createNotificationEndpoints(ports),
    consumers: [],
    async start() {
      dispatcher.start();
    },
    async stop() {
      await dispatcher.stop();
      await ports.close();
    },
  };
}
