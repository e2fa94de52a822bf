import { pageRequest, pageView } from '@gateway/admin-calls';
import {
  ManagementTokenAccess,
  type CreatedManagementToken,
  type CreateManagementTokenResponse,
  type ManagementToken,
  type ManagementTokenResponse,
} from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { unwrap } from '../messages/errors';
import { managementTokenView } from '../messages/management-token-views';
import { organizationRoleMessage } from '../messages/people-views';
import type { DashboardApiPorts } from '../ports';

const ACCESS_MESSAGES = {
  read: ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ,
  read_write: ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ_WRITE,
} as const;

export function createManagementTokenHandlers({ authAdmin }: DashboardApiPorts): readonly Implementation[] {
  const { managementTokens } = endpoints;

  const list = async (
    organizationId: string | undefined,
    query: Parameters<typeof pageRequest>[0],
    isOperator: boolean,
  ) => {
    const request = { organizationId, ...pageRequest(query) };
    const { tokens, nextPageToken } = await authAdmin.listManagementTokens(request);
    return pageView(
      tokens.map((token) => managementTokenView(token, isOperator)),
      nextPageToken,
    );
  };

  const createdView = ({ outcome }: CreateManagementTokenResponse, isOperator: boolean) => {
    const { token, secret } = unwrap<CreatedManagementToken>(outcome);
    if (!token) throw new Error('the response has no token');
    return { token: managementTokenView(token, isOperator), secret };
  };

  const revokedView = ({ outcome }: ManagementTokenResponse, isOperator: boolean) => ({
    token: managementTokenView(unwrap<ManagementToken>(outcome), isOperator),
  });

  return [
    implement(managementTokens.list, ({ params, query, isOperator }) =>
      list(params.organization_id, query, isOperator),
    ),

    implement(managementTokens.create, async ({ params, body, isOperator }) => {
      const created = await authAdmin.createManagementToken({
        organizationId: params.organization_id,
        name: body.name,
        role: organizationRoleMessage(body.role),
        access: ACCESS_MESSAGES[body.access],
        expiresOn: body.expires_on,
      });
      return createdView(created, isOperator);
    }),

    implement(managementTokens.revoke, async ({ params, isOperator }) => {
      const target = { organizationId: params.organization_id, tokenId: params.token_id };
      return revokedView(await authAdmin.revokeManagementToken(target), isOperator);
    }),

    implement(managementTokens.listPlatform, ({ query, isOperator }) => list(undefined, query, isOperator)),

    implement(managementTokens.createPlatform, async ({ body, isOperator }) => {
      const { name, expires_on: expiresOn } = body;
      const created = { name, expiresOn, access: ACCESS_MESSAGES[body.access] };
      return createdView(await authAdmin.createManagementToken(created), isOperator);
    }),

    implement(managementTokens.revokePlatform, async ({ params, isOperator }) =>
      revokedView(await authAdmin.revokeManagementToken({ tokenId: params.token_id }), isOperator),
    ),
  ];
}
