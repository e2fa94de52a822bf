-- Single sign-on: who a member is at the identity provider, whose people an organization takes in, and the sign-ins that
-- have been begun and not come back yet (only hashes of their secrets; each is deleted when it is used).
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
  "role" TEXT NOT NULL CHECK ("role" IN ('admin', 'member')),
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
