CREATE TABLE "organizations" (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "suspended" BOOLEAN NOT NULL,
  "suspended_reason" TEXT,
  "requests_per_minute" INTEGER,
  "tokens_per_minute" INTEGER,
  "daily_budget_nano_usd" BIGINT,
  "concurrency" INTEGER,
  "max_output_tokens" INTEGER,
  "multiple_completions" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE TABLE "api_keys" (
  "id" TEXT PRIMARY KEY,
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "sha256" BYTEA NOT NULL,
  "last4" TEXT NOT NULL,
  "scopes" TEXT[],
  "allowed_models" TEXT[],
  "ip_allowlist" TEXT[],
  "expires_on" DATE,
  "requests_per_minute" INTEGER,
  "tokens_per_minute" INTEGER,
  "daily_budget_nano_usd" BIGINT,
  "concurrency" INTEGER,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "revoked_at" TIMESTAMPTZ(3)
);

CREATE UNIQUE INDEX "api_keys_sha256_key" ON "api_keys" ("sha256");
CREATE INDEX "api_keys_organization_id_id_idx" ON "api_keys" ("organization_id", "id" DESC);

CREATE TABLE "members" (
  "id" TEXT PRIMARY KEY,
  "email" TEXT NOT NULL,
  "password_hash" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE UNIQUE INDEX "members_email_key" ON "members" ("email");

CREATE TABLE "sessions" (
  "token_sha256" BYTEA PRIMARY KEY,
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE INDEX "sessions_member_id_idx" ON "sessions" ("member_id");
CREATE INDEX "sessions_expires_at_idx" ON "sessions" ("expires_at");

CREATE TABLE "sign_in_attempts" (
  "bucket" BYTEA PRIMARY KEY,
  "attempts" INTEGER NOT NULL,
  "window_ends_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE INDEX "sign_in_attempts_window_ends_at_idx" ON "sign_in_attempts" ("window_ends_at");

CREATE TABLE "audit_entries" (
  "id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "actor_id" TEXT NOT NULL,
  "actor_label" TEXT NOT NULL,
  "actor_ip_address" TEXT NOT NULL,
  "organization_id" TEXT,
  "action" TEXT NOT NULL,
  "target" TEXT NOT NULL,
  "details" JSONB NOT NULL,
  "outcome" TEXT NOT NULL
);

CREATE INDEX "audit_entries_organization_id_id_idx" ON "audit_entries" ("organization_id", "id" DESC);

-- Revocation that is immediate everywhere. An edge may use what it remembers of
-- keys only under a lease; whoever revokes waits for every lease either to
-- acknowledge the revocation's sequence number or to run out. All times are the
-- database's, so that auth replicas need no common clock.

-- The last sequence number given out. Taking the next one locks this row until
-- commit, so numbers become visible in order and without gaps: a reader that
-- has seen n has been able to see everything below n.
CREATE TABLE "invalidation_counter" (
  "only" BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK ("only"),
  "last" BIGINT NOT NULL
);

INSERT INTO "invalidation_counter" ("last") VALUES (0);

-- What edges have to forget: one key, or every key of one organization.
CREATE TABLE "invalidations" (
  "sequence" BIGINT PRIMARY KEY,
  "key_sha256" BYTEA,
  "organization_id" TEXT,
  "created_at" TIMESTAMPTZ NOT NULL,
  CHECK (("key_sha256" IS NULL) <> ("organization_id" IS NULL))
);

CREATE INDEX "invalidations_created_at_idx" ON "invalidations" ("created_at");

CREATE TABLE "edge_leases" (
  "edge_id" TEXT PRIMARY KEY,
  -- The edge's newest watch, and whether its stream is still open.
  "watch_id" TEXT NOT NULL,
  "watch_open" BOOLEAN NOT NULL,
  "acknowledged_sequence" BIGINT NOT NULL,
  "expires_at" TIMESTAMPTZ NOT NULL
);
