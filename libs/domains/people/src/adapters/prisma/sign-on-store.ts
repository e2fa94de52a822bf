import type { UnixMs } from '@gateway/base';
import type { SignOnStore } from '../../core/single-sign-on/ports';
import type { AuthPrisma } from '@gateway/auth-shared/adapters';

export function createPrismaSignOnStore(prisma: AuthPrisma): SignOnStore {
  return {
    async insert(stateSha256, { browserSha256, redirectUri, returnTo, replacedTokenSha256, expiresAt }) {
      await prisma.oidcFlow.create({
        data: {
          stateSha256: Uint8Array.from(stateSha256),
          browserSha256: Uint8Array.from(browserSha256),
          redirectUri,
          returnTo,
          replacedTokenSha256: replacedTokenSha256 ? Uint8Array.from(replacedTokenSha256) : null,
          expiresAt: new Date(expiresAt),
        },
      });
    },

    consume(stateSha256, browserSha256) {
      const where = {
        stateSha256: Uint8Array.from(stateSha256),
        browserSha256: Uint8Array.from(browserSha256),
      };
      return prisma.$transaction(async (transaction) => {
        const row = await transaction.oidcFlow.findFirst({ where });
        if (!row) return undefined;
        // Only one of two concurrent calls deletes the row.
        const { count } = await transaction.oidcFlow.deleteMany({ where });
        if (count === 0) return undefined;
        return {
          browserSha256: Buffer.from(row.browserSha256),
          redirectUri: row.redirectUri,
          returnTo: row.returnTo,
          ...(row.replacedTokenSha256 ? { replacedTokenSha256: Buffer.from(row.replacedTokenSha256) } : {}),
          expiresAt: row.expiresAt.getTime() as UnixMs,
        };
      });
    },
  };
}
