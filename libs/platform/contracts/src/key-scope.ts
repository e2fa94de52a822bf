import { enumNames } from './enum-names';
import { Scope } from './generated/gateway/auth/v1/auth';

export const { messageOf: keyScopeMessage, nameOf: keyScopeOf } = enumNames({
  chat: Scope.SCOPE_CHAT,
  'usage:read': Scope.SCOPE_USAGE_READ,
});
