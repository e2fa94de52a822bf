-- The tables of the schema "auth" in version 0.1.0. schema.prisma describes the tables that Prisma reads.

CREATE TABLE "organizations" (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "suspended" BOOLEAN NOT NULL,
  "suspended_reason" TEXT,
  "requests_per_minute" INTEGER,
  "tokens_per_minute" INTEGER,
  "daily_budget_nano_usd" BIGINT,
  "weekly_budget_nano_usd" BIGINT,
  "monthly_budget_nano_usd" BIGINT,
  "total_budget_nano_usd" BIGINT,
  -- Budgets of rolling windows: hours and amount_nano_usd of each.
  "other_budgets" JSONB NOT NULL DEFAULT '[]',
  "concurrency" INTEGER,
  "max_output_tokens" INTEGER,
  "multiple_completions" BOOLEAN NOT NULL,
  -- The upper bounds of the limits, set by operators. NULL: none.
  "ceiling_requests_per_minute" INTEGER,
  "ceiling_tokens_per_minute" INTEGER,
  "ceiling_daily_budget_nano_usd" BIGINT,
  "ceiling_weekly_budget_nano_usd" BIGINT,
  "ceiling_monthly_budget_nano_usd" BIGINT,
  "ceiling_total_budget_nano_usd" BIGINT,
  "ceiling_concurrency" INTEGER,
  "ceiling_max_output_tokens" INTEGER,
  "ceiling_multiple_completions" BOOLEAN NOT NULL,
  "requires_second_factor" BOOLEAN NOT NULL DEFAULT false,
  -- The providers and regions that requests may be sent to, in lower case. Empty: no restriction.
  "allowed_providers" TEXT[] NOT NULL DEFAULT '{}',
  "denied_providers" TEXT[] NOT NULL DEFAULT '{}',
  "allowed_regions" TEXT[] NOT NULL DEFAULT '{}',
  "denied_regions" TEXT[] NOT NULL DEFAULT '{}',
  "elastic_holds" BOOLEAN NOT NULL DEFAULT false,
  "usage_tags" TEXT[] NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  -- Incremented by each change, for optimistic concurrency control.
  "version" INTEGER NOT NULL DEFAULT 1,
  CONSTRAINT "organizations_limits_are_within_ceilings" CHECK (
    "requests_per_minute" <= "ceiling_requests_per_minute"
    AND "tokens_per_minute" <= "ceiling_tokens_per_minute"
    AND "daily_budget_nano_usd" <= "ceiling_daily_budget_nano_usd"
    AND "weekly_budget_nano_usd" <= "ceiling_weekly_budget_nano_usd"
    AND "monthly_budget_nano_usd" <= "ceiling_monthly_budget_nano_usd"
    AND "total_budget_nano_usd" <= "ceiling_total_budget_nano_usd"
    AND "concurrency" <= "ceiling_concurrency"
    AND "max_output_tokens" <= "ceiling_max_output_tokens"
    AND "multiple_completions" <= "ceiling_multiple_completions"
  )
);

CREATE TABLE "members" (
  "id" TEXT PRIMARY KEY,
  "email" TEXT NOT NULL,
  "name" TEXT NOT NULL DEFAULT '',
  -- IANA name, for emails.
  "time_zone" TEXT NOT NULL DEFAULT '',
  -- NULL for members who sign in by single sign-on only.
  "password_hash" TEXT,
  "role" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "last_seen_at" TIMESTAMPTZ(3),
  "totp_secret" TEXT,
  "totp_confirmed_at" TIMESTAMPTZ(3),
  "totp_last_step" BIGINT,
  "disabled_at" TIMESTAMPTZ(3)
);

CREATE UNIQUE INDEX "members_email_key" ON "members" ("email");

-- Keys of an organization that share budgets.
CREATE TABLE "projects" (
  "id" TEXT PRIMARY KEY,
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "daily_budget_nano_usd" BIGINT,
  "weekly_budget_nano_usd" BIGINT,
  "monthly_budget_nano_usd" BIGINT,
  "total_budget_nano_usd" BIGINT,
  -- Budgets of rolling windows: hours and amount_nano_usd of each.
  "other_budgets" JSONB NOT NULL DEFAULT '[]',
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "archived_at" TIMESTAMPTZ(3),
  "version" INTEGER NOT NULL DEFAULT 1
);

CREATE INDEX "projects_organization_id_id_idx" ON "projects" ("organization_id", "id" DESC);

-- A rotated key keeps its id. Its previous secret remains valid until previous_works_until.
CREATE TABLE "api_keys" (
  "id" TEXT PRIMARY KEY,
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "sha256" BYTEA NOT NULL,
  "last4" TEXT NOT NULL,
  "scopes" TEXT[],
  "allowed_models" TEXT[],
  "ip_allowlist" TEXT[],
  -- Streams may have a JSON response format.
  "json_streaming" BOOLEAN NOT NULL DEFAULT false,
  "expires_on" DATE,
  "requests_per_minute" INTEGER,
  "tokens_per_minute" INTEGER,
  "daily_budget_nano_usd" BIGINT,
  "weekly_budget_nano_usd" BIGINT,
  "monthly_budget_nano_usd" BIGINT,
  "total_budget_nano_usd" BIGINT,
  -- Budgets of rolling windows: hours and amount_nano_usd of each.
  "other_budgets" JSONB NOT NULL DEFAULT '[]',
  "concurrency" INTEGER,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "revoked_at" TIMESTAMPTZ(3),
  "version" INTEGER NOT NULL DEFAULT 1,
  "previous_sha256" BYTEA,
  "previous_last4" TEXT,
  "previous_works_until" TIMESTAMPTZ(3),
  -- Only for session keys, such as the playground's: their expiry, and the session whose end revokes them.
  "expires_at" TIMESTAMPTZ(3),
  "session_id" TEXT,
  -- The person who is responsible for it: its creator, unless it was transferred.
  "owner_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "project_id" TEXT REFERENCES "projects" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "api_keys_previous_is_whole" CHECK (
    ("previous_sha256" IS NULL) = ("previous_last4" IS NULL) AND ("previous_sha256" IS NULL) = ("previous_works_until" IS NULL)
  )
);

CREATE UNIQUE INDEX "api_keys_sha256_key" ON "api_keys" ("sha256");
CREATE UNIQUE INDEX "api_keys_previous_sha256_key" ON "api_keys" ("previous_sha256");
CREATE INDEX "api_keys_organization_id_id_idx" ON "api_keys" ("organization_id", "id" DESC);
CREATE INDEX "api_keys_session_id_idx" ON "api_keys" ("session_id");
CREATE INDEX "api_keys_owner_id_idx" ON "api_keys" ("owner_id");
CREATE INDEX "api_keys_project_id_idx" ON "api_keys" ("project_id");
CREATE INDEX "api_keys_last4_idx" ON "api_keys" ("last4");
CREATE INDEX "api_keys_previous_last4_idx" ON "api_keys" ("previous_last4");

-- Operators need no membership in an organization.
CREATE TABLE "memberships" (
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "role" TEXT NOT NULL CHECK ("role" IN ('owner', 'admin', 'developer', 'billing', 'member')),
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY ("organization_id", "member_id")
);

CREATE INDEX "memberships_member_id_idx" ON "memberships" ("member_id");

CREATE TABLE "sessions" (
  "token_sha256" BYTEA PRIMARY KEY,
  "id" TEXT NOT NULL,
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "device" TEXT NOT NULL,
  "ip_address" TEXT NOT NULL,
  "signed_in_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "confirmed_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE UNIQUE INDEX "sessions_id_key" ON "sessions" ("id");
CREATE INDEX "sessions_member_id_idx" ON "sessions" ("member_id");
CREATE INDEX "sessions_expires_at_idx" ON "sessions" ("expires_at");

-- Tokens of scripts for the dashboard API. Those of the platform have no organization and no role in one.
CREATE TABLE "management_tokens" (
  "id" TEXT PRIMARY KEY,
  "organization_id" TEXT REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "sha256" BYTEA NOT NULL,
  "last4" TEXT NOT NULL,
  "role" TEXT CHECK ("role" IN ('admin', 'billing', 'member')),
  "access" TEXT NOT NULL CHECK ("access" IN ('read', 'read_write')),
  "created_by" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_on" DATE NOT NULL,
  "revoked_at" TIMESTAMPTZ(3),
  "last_used_at" TIMESTAMPTZ(3),
  CONSTRAINT "management_tokens_have_one_scope" CHECK (("organization_id" IS NULL) = ("role" IS NULL))
);

CREATE UNIQUE INDEX "management_tokens_sha256_key" ON "management_tokens" ("sha256");
CREATE INDEX "management_tokens_organization_id_id_idx" ON "management_tokens" ("organization_id", "id" DESC);

CREATE TABLE "sign_in_attempts" (
  "bucket" BYTEA PRIMARY KEY,
  "attempts" INTEGER NOT NULL,
  "window_ends_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE INDEX "sign_in_attempts_window_ends_at_idx" ON "sign_in_attempts" ("window_ends_at");

-- Tokens of invitation and password reset links are stored as hashes only, and so are recovery codes.
CREATE TABLE "invitations" (
  "id" TEXT PRIMARY KEY,
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "email" TEXT NOT NULL,
  "role" TEXT NOT NULL CHECK ("role" IN ('owner', 'admin', 'developer', 'billing', 'member')),
  "token_sha256" BYTEA NOT NULL,
  "invited_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "accepted_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3)
);

CREATE UNIQUE INDEX "invitations_token_sha256_key" ON "invitations" ("token_sha256");
CREATE INDEX "invitations_organization_id_id_idx" ON "invitations" ("organization_id", "id" DESC);

CREATE TABLE "password_resets" (
  "token_sha256" BYTEA PRIMARY KEY,
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE INDEX "password_resets_member_id_idx" ON "password_resets" ("member_id");
CREATE INDEX "password_resets_expires_at_idx" ON "password_resets" ("expires_at");

CREATE TABLE "recovery_codes" (
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "code_sha256" BYTEA NOT NULL,
  PRIMARY KEY ("member_id", "code_sha256")
);

-- Single sign-on: a member's identity at the provider, the email domains that an organization admits, and sign-ins in
-- progress. A sign-in in progress stores only hashes of its secrets and is deleted on use.
CREATE TABLE "member_identities" (
  "issuer" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY ("issuer", "subject")
);

CREATE UNIQUE INDEX "member_identities_member_id_issuer_key" ON "member_identities" ("member_id", "issuer");

CREATE TABLE "organization_domains" (
  "domain" TEXT PRIMARY KEY,
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "role" TEXT NOT NULL CHECK ("role" IN ('admin', 'developer', 'billing', 'member')),
  "mapped_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE INDEX "organization_domains_organization_id_idx" ON "organization_domains" ("organization_id");

CREATE TABLE "oidc_flows" (
  "state_sha256" BYTEA PRIMARY KEY,
  "browser_sha256" BYTEA NOT NULL,
  "redirect_uri" TEXT NOT NULL,
  "return_to" TEXT NOT NULL,
  "replaced_token_sha256" BYTEA,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE INDEX "oidc_flows_expires_at_idx" ON "oidc_flows" ("expires_at");

CREATE TABLE "audit_entries" (
  "id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "actor_id" TEXT NOT NULL,
  "actor_label" TEXT NOT NULL,
  "actor_ip_address" TEXT NOT NULL,
  "actor_role" TEXT NOT NULL,
  "organization_id" TEXT,
  "action" TEXT NOT NULL,
  "target" TEXT NOT NULL,
  "details" JSONB NOT NULL
);

CREATE INDEX "audit_entries_organization_id_id_idx" ON "audit_entries" ("organization_id", "id" DESC);

-- Immediate revocation. An edge may use its cached keys only under a lease. A revocation waits until each lease has
-- acknowledged its sequence number or has expired. The database's clock measures the leases, so auth replicas need no
-- common clock. Prisma does not use these tables.

-- The last assigned sequence number. Assigning the next one locks this row until commit, so numbers become visible in
-- order and without gaps.
CREATE TABLE "invalidation_counter" (
  "only" BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK ("only"),
  "last" BIGINT NOT NULL
);

INSERT INTO "invalidation_counter" ("last") VALUES (0);

-- Entries that edges must evict from their caches: one key, or every key of one organization.
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

-- Notifications of operators, in plain SQL by the library operator-notifications.

-- One row. Locked by the replica that decides which notifications are due.
CREATE TABLE "notification_settings" (
  "only" BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK ("only"),
  "email_enabled" BOOLEAN NOT NULL DEFAULT TRUE,
  "extra_emails" TEXT[] NOT NULL DEFAULT '{}',
  -- URL and signing secret as JSON, encrypted with the secrets key.
  "webhook" TEXT
);

INSERT INTO "notification_settings" DEFAULT VALUES;

-- An incident is current while it is reported. Its row outlives it for some minutes, to limit notifications when it
-- comes and goes.
CREATE TABLE "incidents" (
  "cause" TEXT COLLATE "C" NOT NULL,
  "subject" TEXT COLLATE "C" NOT NULL,
  "details" TEXT NOT NULL,
  "since" TIMESTAMPTZ NOT NULL,
  "last_reported_at" TIMESTAMPTZ NOT NULL,
  -- When operators were notified of it; NULL if not yet, and again after they were notified of its end.
  "opened_at" TIMESTAMPTZ,
  -- The latest notification that it has begun or still lasts.
  "last_notified_at" TIMESTAMPTZ,
  PRIMARY KEY ("cause", "subject")
);

CREATE TABLE "operator_notifications" (
  -- Sorts by time.
  "id" TEXT COLLATE "C" PRIMARY KEY,
  "created_at" TIMESTAMPTZ NOT NULL,
  "kind" TEXT NOT NULL,
  -- NULL for a test.
  "cause" TEXT,
  -- [{subject, details}]
  "subjects" JSONB NOT NULL
);

CREATE INDEX "operator_notifications_created_at_idx" ON "operator_notifications" ("created_at");

CREATE TABLE "notification_deliveries" (
  "notification_id" TEXT COLLATE "C" NOT NULL REFERENCES "operator_notifications" ("id") ON DELETE CASCADE,
  -- An email address, or 'webhook'.
  "recipient" TEXT COLLATE "C" NOT NULL,
  "attempts" INTEGER NOT NULL,
  -- When the next attempt is due; NULL when it was delivered or given up.
  "due_at" TIMESTAMPTZ,
  "delivered_at" TIMESTAMPTZ,
  "failure" TEXT,
  PRIMARY KEY ("notification_id", "recipient")
);

CREATE INDEX "notification_deliveries_due_at_idx" ON "notification_deliveries" ("due_at");
