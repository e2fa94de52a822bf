import { createAuditEntry } from '@gateway/test-support';
import type { UnixMs } from '@gateway/base';
import type { HoldOutcome, HoldRequest } from '@gateway/billing-ledger/testing';
import type { FinishedGeneration } from '@gateway/billing-ledger/testing';
import {
  announce,
  budgetsOf,
  createLedgerFixture,
  usdNano,
  type LedgerInstance,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { injectFaults, waitForOrphans, ProcessTerminated, withFault } from './faulty-pool';
import {
  LEASE_MS,
  type Call,
  type Generation,
  type History,
  type Operation,
  type CountedBudget,
  type WindowBudget,
} from './history';
import { OTHER_ORGANIZATION } from './ledger-model';
import type { Account, ModelState } from './model-state';
import type { CompletedCall } from './explain-outcomes';

/** Truncates the tables once per this many histories; deleting is faster. */
const HISTORIES_PER_TRUNCATION = 200;
const MAX_DELETED_CLAIMS = 100;

/** The observable state of the ledger. */
export interface Observed {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly announced: ModelState['announced'];
}

/** Two real ledgers on one real database, which run histories one after the other. */
export interface SimulatedLedger {
  readonly fixture: LedgerFixture;
  /** Deletes all data and prepares for a history. */
  reset(history: History): Promise<void>;
  call(call: Call): Promise<CompletedCall>;
  /** Waits for the PostgreSQL backends of cut connections. */
  waitForOrphanedStatements(): Promise<void>;
  observe(): Promise<Observed>;
  close(): Promise<void>;
}

export async function createSimulatedLedger(): Promise<SimulatedLedger> {
  const fixture = await createLedgerFixture();
  injectFaults(fixture.first.pool);
  injectFaults(fixture.second.pool);
  const tables = await ownTables(fixture);
  let generations: readonly Generation[] = [];
  let histories = 0;
  const orphans: number[] = [];

  async function reset(history: History): Promise<void> {
    generations = history.generations;
    await fixture.clock.set(history.startUnixMs);
    histories += 1;
    await fixture.auditPool.query(
      histories % HISTORIES_PER_TRUNCATION === 0
        ? `truncate ${tables.join(', ')}`
        : tables.map((table) => `delete from ${table}`).join('; '),
    );
  }

  async function call({ ledger, operation, fault }: Call): Promise<CompletedCall> {
    const instance = ledger === 1 ? fixture.first : fixture.second;
    let terminated = false;
    const { result, hasFired, ...left } = await withFault(fault, () =>
      perform(instance, operation).catch((error: unknown) => {
        if (!(error instanceof ProcessTerminated)) throw error;
        terminated = true;
        return undefined;
      }),
    );
    orphans.push(...left.orphans);
    if (terminated) return { operation, outcome: undefined, times: [0, 1] };
    return { operation, outcome: result, times: hasFired ? [1, 2] : [1] };
  }

  async function perform({ store, claims }: LedgerInstance, operation: Operation): Promise<string> {
    const now = fixture.clock.now();
    const named = (indexes: readonly number[]) => indexes.map((index) => generations[index] as Generation);
    switch (operation.kind) {
      case 'credit': {
        const { id: creditId, organization: organizationId, amount } = operation;
        return store.addCredit(
          {
            creditId,
            organizationId,
            amountNanoUsd: usdNano(amount),
            note: 'simulation',
          },
          createAuditEntry(),
        );
      }
      case 'hold': {
        const holds = named(operation.generations).map((one) =>
          holdOf(one, operation.otherOrganization ?? false, now),
        );
        return (await store.holdCredit(holds)).map(holdOutcome).join(', ');
      }
      case 'extend': {
        const holds = named(operation.generations).map((one) => {
          const hold = holdOf(one, false, now);
          return { ...hold, amountNanoUsd: usdNano(one.amount + operation.by) };
        });
        return (await store.extendHolds(holds)).map(holdOutcome).join(', ');
      }
      case 'void':
        return String(await store.voidHolds(named(operation.generations).map(refOf)));
      case 'reap':
        return String(await store.voidOverdueHolds(operation.limit));
      case 'settle': {
        const report = await store.settleGenerations(named(operation.generations).map(finishedOf), announce);
        const lines = [
          ...report.settlements.map(
            ({ generationId, origin, costNanoUsd, chargedNanoUsd, isWaived }) =>
              `${generationId} ${origin} cost ${costNanoUsd} charged ${chargedNanoUsd}${isWaived ? ' waived' : ''}`,
          ),
          ...report.rejected.map(({ generationId }) => `${generationId} rejected`),
          ...Array.from({ length: report.duplicates }, () => 'duplicate'),
        ];
        return lines.sort().join(', ');
      }
      case 'claim': {
        const one = generations[operation.generation] as Generation;
        const [outcome] = await claims.claimIdempotencyKeys([
          {
            scope: one.scope ?? '',
            organizationId: one.organization,
            bodySha256: Buffer.alloc(32, one.body),
            generationId: one.id,
            leaseMs: LEASE_MS,
            responseKey: Buffer.from(`key of ${one.id}`),
          },
        ]);
        if (outcome === undefined) return 'no outcome';
        if (outcome.kind !== 'completed') return outcome.kind;
        const response = Buffer.from(outcome.response.encrypted).toString();
        return response === outcome.generationId
          ? `completed by ${response}`
          : `the response of ${response} under another id`;
      }
      case 'renew':
        await claims.renewClaims(named(operation.generations).map(claimRefOf), LEASE_MS);
        return 'done';
      case 'release':
        await claims.releaseClaims(named(operation.generations).map(claimRefOf));
        return 'done';
      case 'delete_expired':
        return String(await claims.deleteExpiredClaims(MAX_DELETED_CLAIMS));
    }
  }

  const waitForOrphanedStatements = () => waitForOrphans(fixture.auditPool, orphans.splice(0));

  async function observe(): Promise<Observed> {
    const { rows } = await fixture.auditPool.query<Account & { organization: string }>(
      `select organization_id as organization, credited_nano_usd as credited, available_nano_usd as available,
         held_nano_usd as held, charged_nano_usd as charged from accounts`,
    );
    const accounts = new Map(
      rows.map(({ organization, credited, available, held, charged }) => [
        organization,
        { credited, available, held, charged },
      ]),
    );
    const announced = new Map<string, { cost: bigint; charged: bigint }>();
    for (const { finished, costNanoUsd, chargedNanoUsd } of await fixture.announced()) {
      const id = finished?.generationId ?? '';
      announced.set(announced.has(id) ? `${id} again` : id, { cost: costNanoUsd, charged: chargedNanoUsd });
    }
    return { accounts, announced };
  }

  return { fixture, reset, call, waitForOrphanedStatements, observe, close: () => fixture.close() };
}

/** The tables that a history writes to. The retention of holds is configuration. */
async function ownTables({ auditPool }: LedgerFixture): Promise<string[]> {
  const { rows } = await auditPool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('_prisma_migrations', 'closed_hold_retention')`,
  );
  return rows.map(({ name }) => name);
}

function holdOf(one: Generation, byOtherOrganization: boolean, now: UnixMs): HoldRequest {
  const { organizationMonth, organizationTotal, keyMonth, keyTotal } = one.longBudgets;
  const { weekBudgets } = one;
  const windowOf = (owner: WindowBudget['owner']) =>
    one.window?.owner === owner && (owner !== 'project' || one.project)
      ? { window: { [one.window.hours]: one.window.amount } }
      : {};
  const countedOf = (owner: CountedBudget['owner']) => {
    if (one.counted?.owner !== owner || (owner === 'project' && !one.project)) return {};
    const { of, period, amount } = one.counted;
    return owner === 'end_user' ? { [period]: amount } : { models: { [of]: { [period]: amount } } };
  };
  const owners = { keyId: one.key, projectId: one.project?.id, runId: one.run?.id };
  return {
    ...owners,
    holdId: one.id,
    organizationId: byOtherOrganization ? OTHER_ORGANIZATION : one.organization,
    amountNanoUsd: usdNano(one.amount),
    prices: one.holdPrices,
    budgets: budgetsOf(
      owners,
      {
        organization: {
          day: one.organizationBudget,
          week: weekBudgets.organization,
          month: organizationMonth,
          total: organizationTotal,
          ...windowOf('organization'),
          ...countedOf('organization'),
        },
        key: {
          day: one.keyBudget,
          week: weekBudgets.key,
          month: keyMonth,
          total: keyTotal,
          ...windowOf('key'),
          ...countedOf('key'),
        },
        end_user: countedOf('end_user'),
        project: {
          day: one.project?.day,
          week: one.project && weekBudgets.project,
          month: one.project?.month,
          total: one.project?.total,
          ...windowOf('project'),
          ...countedOf('project'),
        },
        run: { total: one.run?.budget },
      },
      one.counted?.of,
    ),
    createdAt: now,
    lifetimeMs: one.lifetimeMs,
    idempotencyScope: one.scope,
  };
}

function finishedOf(one: Generation): FinishedGeneration {
  return {
    generationId: one.id,
    organizationId: one.organization,
    keyId: one.key,
    projectId: one.project?.id,
    createdAt: one.createdUnixMs as UnixMs,
    usage: one.usage,
    prices: one.eventPrices,
    endedClaim:
      one.scope === undefined || one.ending === undefined
        ? undefined
        : {
            scope: one.scope,
            ending: one.ending,
            response: one.ending === 'completed' ? { encrypted: Buffer.from(one.id) } : undefined,
          },
  };
}

const refOf = ({ id, organization }: Generation) => ({ holdId: id, organizationId: organization });
const claimRefOf = ({ id, scope = '' }: Generation) => ({ scope, generationId: id });

function holdOutcome(outcome: HoldOutcome): string {
  switch (outcome.kind) {
    case 'insufficient_credits':
      return `insufficient_credits ${outcome.availableNanoUsd}, ${outcome.heldNanoUsd} held`;
    case 'budget_exceeded':
      return `${outcome.scope} ${outcome.period} budget ${outcome.usedNanoUsd}, ${outcome.heldNanoUsd} held`;
    default:
      return outcome.kind;
  }
}
