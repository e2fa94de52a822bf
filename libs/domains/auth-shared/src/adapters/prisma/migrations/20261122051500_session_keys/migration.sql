-- Keys that live for minutes, such as the playground's: they end at a moment of their own, and with the session of the
-- person they were made for, whatever becomes of the process that made them.
ALTER TABLE "api_keys"
  ADD COLUMN "expires_at" TIMESTAMPTZ(3),
  ADD COLUMN "session_id" TEXT;

CREATE INDEX "api_keys_session_id_idx" ON "api_keys" ("session_id");
