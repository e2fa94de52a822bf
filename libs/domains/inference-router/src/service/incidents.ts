import type { Clock, Incident } from '@gateway/base';
import { targetKey, type Target } from '../core/catalogue/model-catalogue';
import type { AttemptOutcome } from '../core/generation/attempt-outcome';
import type { CatalogueSource, CircuitBreakers, FinishedSpool } from '../core/ports';
import { targetsOf } from '../core/catalogue/targets-of';
import type { TargetHealth } from '../core/resilience/target-health';
import type { SwitchWatch } from './switch-watch';

export interface RouterIncidentsPorts {
  readonly catalogue: CatalogueSource;
  readonly breakers: Pick<CircuitBreakers, 'stateOf'>;
  readonly health: Pick<TargetHealth, 'figuresOf'>;
  readonly drains: Pick<SwitchWatch, 'of'>;
  readonly spool: Pick<FinishedSpool, 'names'>;
  readonly clock: Clock;
  /** Identifies this replica. */
  readonly processName: string;
}

export interface RouterIncidents {
  /** Called for every attempt at a target. */
  attemptEnded(target: Target, outcome: AttemptOutcome): void;
  current(): readonly Incident[];
}

/** A rejected key or model name is an incident until a call succeeds, models.yaml changes, or none was rejected for this long. */
const REJECTED_MS = 3_600_000;
/** With fewer calls in the health window, an unavailable target is not noticed unless its circuit opens. */
const MIN_CALLS = 5;

/** What operators are notified of: targets that reject us, models without a working target, and the spool. */
export function createRouterIncidents(ports: RouterIncidentsPorts): RouterIncidents {
  const { catalogue, breakers, health, drains, spool, clock, processName } = ports;
  /** When a target last rejected our key, address or model name. */
  const rejectedAt = new Map<string, number>();
  catalogue.onChange(() => rejectedAt.clear());

  function rejectedTargets(): readonly Incident[] {
    return [...targetsOf(catalogue.current().models.values())].flatMap(({ target, modelIds }): Incident[] => {
      const at = rejectedAt.get(targetKey(target));
      if (at === undefined || clock.now() - at >= REJECTED_MS) return [];
      const details = `used by ${modelIds.join(', ')}`;
      return [{ cause: 'upstream_config_error', subject: targetKey(target), details }];
    });
  }

  /** Drained targets are unavailable on purpose. */
  function unavailableModels(): readonly Incident[] {
    return [...catalogue.current().models.values()].flatMap(({ id, disabled, targets }): Incident[] => {
      const active = targets.filter((target) => !drains.of(targetKey(target)));
      if (disabled || active.length === 0 || !active.every(isFailing)) return [];
      const details = `every call to ${active.map(targetKey).join(', ')} fails`;
      return [{ cause: 'model_unavailable', subject: id, details }];
    });
  }

  function isFailing(target: Target): boolean {
    if (breakers.stateOf(target).state !== 'closed') return true;
    const { calls, failures } = health.figuresOf(target);
    const rejected = failures.get('misconfigured') ?? 0;
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    // Rejected calls are an incident of their own.
    return calls >= MIN_CALLS && failed === calls && rejected < failed;
  }

  function spooled(): readonly Incident[] {
    const { length } = spool.names();
    if (length === 0) return [];
    return [{ cause: 'spool_not_empty', subject: processName, details: `generations: ${length}` }];
  }

  return {
    attemptEnded(target, outcome) {
      if (outcome === 'misconfigured') rejectedAt.set(targetKey(target), clock.now());
      else if (outcome === 'ok' && rejectedAt.size > 0) rejectedAt.delete(targetKey(target));
    },
    current: () => [...rejectedTargets(), ...unavailableModels(), ...spooled()],
  };
}
