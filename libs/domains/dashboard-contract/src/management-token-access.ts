import { isOpenToManagementTokens, type ManagementTokenAccess } from '@gateway/base';
import type { Endpoint } from './endpoint';
import { isPermission } from './permissions';

/** The access with which a management token may call the endpoint if its role allows it; undefined: no token may. */
export function managementTokenAccessOf({
  access,
  method,
}: Pick<Endpoint, 'access' | 'method'>): ManagementTokenAccess | undefined {
  const needed = method === 'GET' ? 'read' : 'read_write';
  if (access === 'authenticated') return needed;
  if (!isPermission(access)) return undefined;
  return isOpenToManagementTokens(access, needed, needed === 'read' ? 'read' : 'change') ? needed : undefined;
}
