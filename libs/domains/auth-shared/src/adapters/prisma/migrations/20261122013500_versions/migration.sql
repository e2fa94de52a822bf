-- A version that grows with each change: whoever edits names the one that was read, so that of two editors the second
-- is told instead of winning.
ALTER TABLE "organizations" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "api_keys" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;
