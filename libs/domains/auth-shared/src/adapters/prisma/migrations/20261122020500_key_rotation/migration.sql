-- A key that is rotated keeps its id and has two secrets for a while: the new one, and the one of before until its time.
ALTER TABLE "api_keys"
  ADD COLUMN "previous_sha256" BYTEA,
  ADD COLUMN "previous_last4" TEXT,
  ADD COLUMN "previous_works_until" TIMESTAMPTZ(3),
  ADD CONSTRAINT "api_keys_previous_is_whole" CHECK (
    ("previous_sha256" IS NULL) = ("previous_last4" IS NULL) AND ("previous_sha256" IS NULL) = ("previous_works_until" IS NULL)
  );

CREATE UNIQUE INDEX "api_keys_previous_sha256_key" ON "api_keys" ("previous_sha256");
