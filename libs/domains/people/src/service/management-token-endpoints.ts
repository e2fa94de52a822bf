import { implement, pageView, type Implementation } from '@gateway/admin-calls';
import type { CallActor } from '@gateway/actors';
import { readPage } from '@gateway/auth-shared';
import { accepted } from '@gateway/auth-shared/service';
import { endpoints, type BodyOf, type QueryOf } from '@gateway/dashboard-contract';
import { personOf } from '@gateway/rpc';
import { createManagementToken } from '../core/management-tokens/create-management-token';
import type { ManagementToken } from '../core/management-tokens/management-token';
import { revokeManagementToken } from '../core/management-tokens/revoke-management-token';
import type { PeoplePorts } from '../core/ports';
import { managementTokenView } from './views';

const { managementTokens } = endpoints;

interface Input {
  readonly actor: CallActor;
  readonly isOperator: boolean;
  /** Without an organization, the tokens of the platform. */
  readonly params: { readonly organization_id?: string };
}
type Target = Input & { readonly params: { readonly token_id: string } };
type Listing = Input & { readonly query: QueryOf<typeof managementTokens.list> };
type Creation = Input & {
  readonly body: Omit<BodyOf<typeof managementTokens.create>, 'role'> & {
    readonly role?: BodyOf<typeof managementTokens.create>['role'];
  };
};

/** Management tokens of an organization and of the platform. */
export function createManagementTokenEndpoints(ports: PeoplePorts): readonly Implementation[] {
  const viewOf = (token: ManagementToken, { isOperator }: Input) =>
    managementTokenView(token, { now: ports.clock.now(), isOperator });

  async function list(input: Listing) {
    const { page_size: pageSize, page_token: pageToken } = input.query;
    const page = await readPage(pageSize, pageToken, (request) =>
      ports.managementTokens.list(input.params.organization_id, request),
    );
    return pageView(
      page.items.map((token) => viewOf(token, input)),
      page.nextPageToken,
    );
  }

  async function create(input: Creation) {
    const { name, role, access, expires_on: expiresOn } = input.body;
    const { organization_id: organizationId } = input.params;
    const wanted = { actor: personOf(input), organizationId, name, role, access, expiresOn };
    const { token, secret } = accepted(await createManagementToken(ports, wanted));
    return { token: viewOf(token, input), secret };
  }

  async function revoke(input: Target) {
    const { organization_id: organizationId, token_id: tokenId } = input.params;
    const target = { actor: personOf(input), organizationId, tokenId };
    return { token: viewOf(accepted(await revokeManagementToken(ports, target)), input) };
  }

  return [
    implement(managementTokens.list, list),
    implement(managementTokens.create, create),
    implement(managementTokens.revoke, revoke),
    implement(managementTokens.listPlatform, list),
    implement(managementTokens.createPlatform, create),
    implement(managementTokens.revokePlatform, revoke),
  ];
}
