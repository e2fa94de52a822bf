-- Who counted a generation's tokens: the provider, or the gateway. Null of
-- generations that were settled before this was kept.
ALTER TABLE "generations" ADD COLUMN "usage_source" TEXT;
