-- How people come in and prove who they are: invitations and password resets by link (only hashes of the tokens), and a
-- second factor with recovery codes (hashes as well).
CREATE TABLE "invitations" (
  "id" TEXT PRIMARY KEY,
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "email" TEXT NOT NULL,
  "role" TEXT NOT NULL CHECK ("role" IN ('owner', 'admin', 'member')),
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

ALTER TABLE "members"
  ADD COLUMN "totp_secret" TEXT,
  ADD COLUMN "totp_confirmed_at" TIMESTAMPTZ(3),
  ADD COLUMN "totp_last_step" BIGINT;

CREATE TABLE "recovery_codes" (
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "code_sha256" BYTEA NOT NULL,
  PRIMARY KEY ("member_id", "code_sha256")
);
