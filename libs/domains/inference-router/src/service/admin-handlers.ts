import { auditOf, type Clock } from '@gateway/base';
import type { InferenceRouterAdminDefinition, ModelTarget } from '@gateway/contracts/inference-router';
import { personOf, type RpcHandlers } from '@gateway/rpc';
import { newId } from '@gateway/runtime';
import { targetKey, type Target } from '../core/catalogue/model-catalogue';
import { targetsOf } from '../core/catalogue/targets-of';
import type { CatalogueSource, CircuitBreakers, FinishedSpool } from '../core/ports';
import type { Bulkheads } from '../core/resilience/bulkhead';
import { HEALTH_WINDOW_MS, type TargetHealth } from '../core/resilience/target-health';
import type { DrainWatch } from './drain-watch';
import { toModelMessage } from './messages';

export interface AdminHandlerPorts {
  readonly catalogue: CatalogueSource;
  readonly breakers: CircuitBreakers;
  readonly bulkheads: Bulkheads;
  readonly health: TargetHealth;
  readonly drains: DrainWatch;
  readonly spool: FinishedSpool;
  readonly clock: Clock;
  /** Identifies this replica. */
  readonly processName: string;
}

/** The operator's view of models and providers, and the rpc that drains a target. */
export function createAdminHandlers(
  ports: AdminHandlerPorts,
): RpcHandlers<typeof InferenceRouterAdminDefinition> {
  const { catalogue, breakers, bulkheads, health, drains, spool, clock, processName } = ports;

  const messageOf = (target: Target): ModelTarget => {
    const drained = drains.of(targetKey(target));
    return {
      provider: target.provider.name,
      providerModel: target.providerModel,
      drained: drained && { sinceUnixMs: BigInt(drained.since), by: drained.by, reason: drained.reason },
    };
  };

  return {
    async getCatalogue() {
      const { version, models } = catalogue.current();
      const { file, sha256, loadedAt, rejected } = catalogue.status();
      return {
        version: BigInt(version),
        file,
        sha256,
        loadedUnixMs: BigInt(loadedAt),
        refused: rejected && {
          sinceUnixMs: BigInt(rejected.since),
          issues: rejected.issues.map((issue) => ({ ...issue })),
        },
        models: [...models.values()].map((model) => ({
          model: toModelMessage(model),
          targets: model.targets.map(messageOf),
        })),
      };
    },

    async getProviderHealth() {
      const { models, providers } = catalogue.current();
      return {
        observer: processName,
        windowMs: HEALTH_WINDOW_MS,
        providers: [...providers.values()].map(({ name, maxConcurrent }) => ({
          name,
          callsInFlight: bulkheads.inFlight(name),
          maxConcurrent,
        })),
        targets: [...targetsOf(models.values())].map(({ target, modelIds }) => {
          const { calls, failures, firstEvent, inFlight } = health.figuresOf(target);
          const { state, organizationsOpen } = breakers.stateOf(target);
          return {
            target: messageOf(target),
            breaker: state,
            organizationsOpen,
            calls,
            failures: Object.fromEntries(failures),
            firstEvent,
            callsInFlight: inFlight,
            modelIds,
          };
        }),
        spooledGenerations: spool.names().length,
        spoolBytes: BigInt(spool.bytes()),
      };
    },

    async setTargetDrained({ provider, providerModel, drained, reason }, context) {
      const actor = personOf(context);
      const found = [...targetsOf(catalogue.current().models.values())].find(
        ({ target }) => target.provider.name === provider && target.providerModel === providerModel,
      );
      if (!found) return { target: undefined };
      const audit = auditOf(
        {
          actor,
          action: drained ? 'target.drain' : 'target.resume',
          target: `${provider}/${providerModel}`,
          details: { reason },
        },
        { newId, clock },
      );
      await drains.set(
        targetKey(found.target),
        drained ? { since: clock.now(), by: actor.label, reason } : undefined,
        audit,
      );
      return { target: messageOf(found.target) };
    },
  };
}
