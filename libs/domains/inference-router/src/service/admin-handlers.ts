import { auditOf, type Actor, type Clock } from '@gateway/base';
import type {
  CatalogueModel,
  InferenceRouterAdminDefinition,
  ModelTarget,
} from '@gateway/contracts/inference-router';
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import { newId } from '@gateway/runtime';
import { targetKey, type Model, type Target } from '../core/catalogue/model-catalogue';
import { targetsOf } from '../core/catalogue/targets-of';
import type { CatalogueSource, CircuitBreakers, FinishedSpool } from '../core/ports';
import type { Bulkheads } from '../core/resilience/bulkhead';
import { HEALTH_WINDOW_MS, type TargetHealth } from '../core/resilience/target-health';
import type { SwitchedOff } from '../core/resilience/switched-off';
import { toModelMessage } from './messages';
import type { SwitchWatch } from './switch-watch';

export interface AdminHandlerPorts {
  /** With the models that operators have disabled. */
  readonly catalogue: CatalogueSource;
  /** Without them. */
  readonly file: CatalogueSource;
  readonly breakers: CircuitBreakers;
  readonly bulkheads: Bulkheads;
  readonly health: TargetHealth;
  readonly drains: SwitchWatch;
  readonly disabledModels: SwitchWatch;
  readonly spool: FinishedSpool;
  readonly clock: Clock;
  /** Identifies this replica. */
  readonly processName: string;
}

/** The operator's view of models and providers, and the rpcs that drain a target or disable a model. */
export function createAdminHandlers(
  ports: AdminHandlerPorts,
): RpcHandlers<typeof InferenceRouterAdminDefinition> {
  const { catalogue, breakers, bulkheads, health, drains, disabledModels, spool, clock, processName } = ports;

  const messageOf = (target: Target): ModelTarget => {
    return {
      provider: target.provider.name,
      providerModel: target.providerModel,
      drained: switchedOffMessage(drains.of(targetKey(target))),
    };
  };
  const modelMessageOf = (model: Model): CatalogueModel => ({
    model: toModelMessage(model),
    targets: model.targets.map(messageOf),
    disabledInFile: ports.file.current().models.get(model.id)?.disabled ?? false,
    switchedOff: switchedOffMessage(disabledModels.of(model.id)),
  });

  const switchedOffNow = (actor: Actor, reason: string): SwitchedOff => ({
    since: clock.now(),
    by: actor.label,
    reason,
  });

  return {
    async getCatalogue() {
      const { version, models } = catalogue.current();
      const { file, sha256, loadedAt, rejected, publishedVersion } = catalogue.status();
      return {
        version: BigInt(version),
        file,
        sha256,
        loadedUnixMs: BigInt(loadedAt),
        refused: rejected && {
          sinceUnixMs: BigInt(rejected.since),
          issues: rejected.issues.map((issue) => ({ ...issue })),
        },
        models: [...models.values()].map(modelMessageOf),
        publishedVersion: publishedVersion === undefined ? undefined : BigInt(publishedVersion),
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
      const actor = actorOf(context);
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
      await drains.set(targetKey(found.target), drained ? switchedOffNow(actor, reason) : undefined, audit);
      return { target: messageOf(found.target) };
    },

    async setModelDisabled({ modelId, disabled, reason }, context) {
      const actor = actorOf(context);
      if (!catalogue.current().models.has(modelId)) return { model: undefined };
      const audit = auditOf(
        {
          actor,
          action: disabled ? 'model.disable' : 'model.enable',
          target: modelId,
          details: { reason },
        },
        { newId, clock },
      );
      await disabledModels.set(modelId, disabled ? switchedOffNow(actor, reason) : undefined, audit);
      const model = catalogue.current().models.get(modelId);
      return { model: model && modelMessageOf(model) };
    },
  };
}

function switchedOffMessage(off: SwitchedOff | undefined) {
  return off && { sinceUnixMs: BigInt(off.since), by: off.by, reason: off.reason };
}
