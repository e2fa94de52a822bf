import type { Actor } from '@gateway/base';

export type { Actor, AuditEntry, AuditedChange, JsonObject } from '@gateway/base';

/** A person with access to auth's own process and database. It needs no permission, and no message can name it. */
export const COMMAND_LINE_ACTOR: Actor = Object.freeze({
  id: 'system',
  label: 'command line',
  ipAddress: '',
});
