-- Who belongs to which organization, and as what. Operators need no membership.
CREATE TABLE "memberships" (
  "organization_id" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "member_id" TEXT NOT NULL REFERENCES "members" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "role" TEXT NOT NULL CHECK ("role" IN ('owner', 'admin', 'member')),
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY ("organization_id", "member_id")
);

CREATE INDEX "memberships_member_id_idx" ON "memberships" ("member_id");

-- Whoever comes by single sign-on needs no password.
ALTER TABLE "members" ALTER COLUMN "password_hash" DROP NOT NULL;
ALTER TABLE "members" ADD COLUMN "last_seen_at" TIMESTAMPTZ(3);

-- What a person sees of a session. Those from before this migration say nothing of where they were opened; the
-- defaults also serve a process of the version before, which does not write these columns.
ALTER TABLE "sessions"
  ADD COLUMN "id" TEXT NOT NULL DEFAULT ('ses-' || gen_random_uuid()),
  ADD COLUMN "device" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "ip_address" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "signed_in_by" TEXT NOT NULL DEFAULT 'password',
  ADD COLUMN "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

CREATE UNIQUE INDEX "sessions_id_key" ON "sessions" ("id");
