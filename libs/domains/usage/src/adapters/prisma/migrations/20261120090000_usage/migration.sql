-- One row per settled generation; its id makes redelivery harmless.
CREATE TABLE "generations" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "model_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "provider_model" TEXT NOT NULL,
    "created_unix_ms" BIGINT NOT NULL,
    "settled_unix_ms" BIGINT NOT NULL,
    "day" DATE NOT NULL,
    "streamed" BOOLEAN NOT NULL,
    "cancelled" BOOLEAN NOT NULL,
    "finish_reason" TEXT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "image_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cost_nano_usd" BIGINT NOT NULL,
    "charged_nano_usd" BIGINT NOT NULL,
    "latency_ms" BIGINT NOT NULL,
    "generation_time_ms" BIGINT NOT NULL,
    "external_user" TEXT,
    "error_code" TEXT,

    CONSTRAINT "generations_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "generations_organization_id_created_unix_ms_idx" ON "generations"("organization_id", "created_unix_ms");

-- Sums over generations, kept up in the transaction that stores them. Sorted by
-- bytes, so that reports come in the same order on every server.
CREATE TABLE "usage_rollups" (
    "organization_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "model_id" TEXT COLLATE "C" NOT NULL,
    "key_id" TEXT COLLATE "C" NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "cost_nano_usd" BIGINT NOT NULL,
    "charged_nano_usd" BIGINT NOT NULL,

    CONSTRAINT "usage_rollups_pkey" PRIMARY KEY ("organization_id", "day", "model_id", "key_id")
);
