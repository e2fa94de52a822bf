import { implement, isoTime, type Implementation } from '@gateway/admin-calls';
import { auditOf, type Actor, type Clock } from '@gateway/base';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { newId } from '@gateway/runtime';
import { targetKey, type Model, type Target } from '../core/catalogue/model-catalogue';
import { targetsOf } from '../core/catalogue/targets-of';
import type { CatalogueSource, CircuitBreakers, FinishedSpool } from '../core/ports';
import type { Bulkheads } from '../core/resilience/bulkhead';
import { HEALTH_WINDOW_MS, type TargetHealth } from '../core/resilience/target-health';
import type { SwitchedOff } from '../core/resilience/switched-off';
import { healthView, offeredModelView, statusView, switchedOffView, targetView } from './operator-views';
import type { SwitchWatch } from './switch-watch';

export interface OperatorEndpointPorts {
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

/** The operator's view of models and providers; draining a target and disabling a model. */
export function createOperatorEndpoints(ports: OperatorEndpointPorts): readonly Implementation[] {
  const { catalogue, breakers, bulkheads, health, drains, disabledModels, spool, clock, processName } = ports;

  const viewOf = (target: Target) => targetView(target, drains.of(targetKey(target)));
  const modelView = (model: Model) => ({
    ...offeredModelView(model),
    disabled: model.disabled,
    disabled_in_file: ports.file.current().models.get(model.id)?.disabled ?? false,
    switched_off: switchedOffView(disabledModels.of(model.id)),
    targets: model.targets.map(viewOf),
  });
  const switchedOffNow = (actor: Actor, reason: string): SwitchedOff => ({
    since: clock.now(),
    by: actor.label,
    reason,
  });

  return [
    implement(endpoints.operator.catalogue, async () => {
      const { version, models } = catalogue.current();
      return {
        catalogue: {
          ...statusView(version, catalogue.status()),
          models: [...models.values()].map(modelView),
        },
      };
    }),

    implement(endpoints.operator.providerHealth, async () => {
      const { models, providers } = catalogue.current();
      return {
        health: {
          window_ms: HEALTH_WINDOW_MS,
          observed_at: isoTime(clock.now()),
          instance: processName,
          providers: [...providers.values()].map(({ name, maxConcurrent }) => ({
            name,
            calls_in_flight: bulkheads.inFlight(name),
            max_concurrent: maxConcurrent,
          })),
          targets: [...targetsOf(models.values())].map(({ target, modelIds }) => {
            const { state, organizationsOpen } = breakers.stateOf(target);
            return {
              ...viewOf(target),
              breaker: state,
              open_for_organizations: organizationsOpen,
              ...healthView(health.figuresOf(target)),
              models: modelIds,
            };
          }),
        },
      };
    }),

    implement(endpoints.operator.drainTarget, async ({ body, actor }) => {
      const { provider, provider_model: providerModel, drained, reason } = body;
      const found = [...targetsOf(catalogue.current().models.values())].find(
        ({ target }) => target.provider.name === provider && target.providerModel === providerModel,
      );
      if (!found) throw new DashboardError('not_found', { message: 'No model uses this target.' });
      const action = drained ? 'target.drain' : 'target.resume';
      const change = { actor, action, target: `${provider}/${providerModel}`, details: { reason } };
      const off = drained ? switchedOffNow(actor, reason) : undefined;
      await drains.set(targetKey(found.target), off, auditOf(change, { newId, clock }));
      return { target: viewOf(found.target) };
    }),

    implement(endpoints.operator.disableModel, async ({ body, actor }) => {
      const { model: modelId, disabled, reason } = body;
      const find = () => {
        const found = catalogue.current().models.get(modelId);
        if (!found) throw new DashboardError('not_found', { message: 'No such model.' });
        return found;
      };
      find();
      const action = disabled ? 'model.disable' : 'model.enable';
      const change = { actor, action, target: modelId, details: { reason } };
      const off = disabled ? switchedOffNow(actor, reason) : undefined;
      await disabledModels.set(modelId, off, auditOf(change, { newId, clock }));
      return { model: modelView(find()) };
    }),

    implement(parts.models, async () => {
      const enabled = [...catalogue.current().models.values()].filter(({ disabled }) => !disabled);
      return { data: enabled.map(offeredModelView) };
    }),

    implement(parts.spool, async () => ({ generations: spool.names().length, bytes: spool.bytes() })),
  ];
}
