import type { Clock } from '@gateway/base';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GatewayError } from '@gateway/errors';
import { createResponseKey } from '@gateway/events';
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import { newId } from '@gateway/runtime';
import type { ClaimStore, LedgerStore } from '../core/ports';
import { ENDING_RULES, type EndingRule } from '../core/idempotency/endings';
import { SETTLING_LEASE_MS } from '../core/limits';
import { addCredit } from './add-credit';
import type { ExtensionBatcher } from './extension-batcher';
import type { HoldBatcher } from './hold-batcher';
import {
  parseClaimRef,
  parseEnding,
  parseFinished,
  parseHoldRef,
  parseIdentifier,
  parseItems,
  parseLease,
  parseRequest,
  parseRunId,
  parseSha256,
  readHold,
  renderBalance,
  renderHoldOutcome,
  renderRun,
} from './messages';
import type { ClaimBatcher } from './claim-batcher';
import { renderClaimResult } from './encrypted-responses';
import type { SettleBatcher } from './settle-batcher';
import type { VoidBatcher } from './void-batcher';

export interface HandlerPorts {
  readonly store: LedgerStore;
  readonly claims: ClaimStore;
  readonly holdBatcher: HoldBatcher;
  readonly extensionBatcher: ExtensionBatcher;
  readonly voidBatcher: VoidBatcher;
  readonly settleBatcher: SettleBatcher;
  readonly claimBatcher: ClaimBatcher;
  readonly clock: Clock;
}

export function createHandlers(options: HandlerPorts): RpcHandlers<BillingLedgerDefinition> {
  const { store, claims, holdBatcher, extensionBatcher, voidBatcher, settleBatcher, claimBatcher, clock } =
    options;

  return {
    holdCredit: async (request, { signal }) => {
      const holds = parseRequest(() => parseItems('holds', request.holds)).map(readHold);
      const outcomes = await holdBatcher.decideHolds(holds, signal);
      return {
        results: outcomes.map((outcome, index) =>
          renderHoldOutcome(outcome, request.holds[index]?.amountNanoUsd ?? 0n),
        ),
      };
    },

    extendHolds: async (request) => {
      const holds = parseRequest(() => parseItems('holds', request.holds)).map(readHold);
      const outcomes = await extensionBatcher.extendHolds(holds);
      return {
        results: outcomes.map((outcome, index) =>
          renderHoldOutcome(outcome, request.holds[index]?.amountNanoUsd ?? 0n),
        ),
      };
    },

    voidHolds: async (request) => {
      const holds = parseRequest(() => parseItems('holds', request.holds).map(parseHoldRef));
      await voidBatcher.voidHolds(holds);
      return {};
    },

    settleGenerations: async (request, { metadata }) => {
      const items = parseRequest(() =>
        parseItems('generations', request.generations).map((message) => ({
          message,
          generation: parseFinished(message),
          headers: traceOf(metadata),
        })),
      );
      const [rejected] = await settleBatcher.settleGenerations(items);
      if (rejected) {
        throw new GatewayError('invalid_request', {
          message: 'A generation cannot be settled.',
          internalMessage: `${rejected.generationId}: ${rejected.reason}`,
        });
      }
      return {};
    },

    getBalance: async (request) => {
      const organizationId = parseRequest(() => parseIdentifier('organization_id', request.organizationId));
      return renderBalance(await store.readBalance(organizationId));
    },

    getRun: async (request) => {
      const [organizationId, runId] = parseRequest(() => [
        parseIdentifier('organization_id', request.organizationId),
        parseRunId(request.runId),
      ]);
      return renderRun(await store.readRun(organizationId, runId));
    },

    addCredit: async (request, context) => {
      const balance = await addCredit({ ledger: store, newId, clock }, actorOf(context), request);
      if (balance === 'conflict') {
        throw new GatewayError('invalid_request', {
          message: 'This credit id was used before for another organization or amount.',
          param: 'credit_id',
        });
      }
      return { balance: renderBalance(balance) };
    },

    claimIdempotencyKey: async (request) => {
      const claim = parseRequest(() => {
        const ref = parseClaimRef(request);
        return {
          organizationId: parseIdentifier('organization_id', request.organizationId),
          bodySha256: parseSha256(request.bodySha256),
          leaseMs: parseLease(request.leaseMs),
          responseKey: createResponseKey(),
          ...ref,
        };
      });
      return renderClaimResult(claim.scope, await claimBatcher.claim(claim));
    },

    renewIdempotencyClaims: async (request) => {
      const refs = parseRequest(() => parseItems('claims', request.claims).map(parseClaimRef));
      const leaseMs = parseRequest(() => parseLease(request.leaseMs));
      await claims.renewClaims(refs, leaseMs);
      return {};
    },

    endIdempotencyClaims: async (request) => {
      const ended = parseRequest(() =>
        parseItems('ended_claims', request.endedClaims).map(({ claim, ending }) => ({
          claim: parseClaimRef(claim),
          rule: ENDING_RULES[parseEnding(ending)].whenReported,
        })),
      );
      const claimsWith = (rule: EndingRule['whenReported']) =>
        ended.filter((each) => each.rule === rule).map(({ claim }) => claim);
      await Promise.all([
        claims.releaseClaims(claimsWith('free')),
        claims.renewClaims(claimsWith('in_flight'), SETTLING_LEASE_MS),
      ]);
      return {};
    },
  };
}

function traceOf({ traceparent }: Readonly<Record<string, string>>): Record<string, string> | undefined {
  return traceparent === undefined ? undefined : { traceparent };
}
